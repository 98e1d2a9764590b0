// The object source: pods and network definitions as attach needs them, and what their owners get
// to see of its work. The Kubernetes API or a folder of manifests; attach cannot tell which.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "aio/event.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "base/try.h"
#include "json/count.h"
#include "model/objects.h"

namespace mnet::attach {

struct PodLookup {
  std::string ns, name;
  std::string uid;  // as the request has it; empty fits every pod
  // How long to wait for a pod that is missing or has another UID (02, 5.2); 0: not at all.
  std::chrono::milliseconds wait{0};
  // What an unwell source answers is final; else it is asked again for a while.
  bool once = false;
  // Whether a pod whose annotations are long may come without them (PodObject::is_cut).
  bool may_be_cut = false;
  // As its owner has it now, not as it is remembered here; asked for once.
  bool newest = false;
};

// The longest message of an event, in bytes. A plugin's words, which may be anything, are in it.
inline constexpr std::size_t kMostOfEvent = 1024;

// How much one request makes a source read from a server. A pod's author chooses how many networks
// it names, but not what they cost the server (03, 5.5).
class LiveReads {
 public:
  static constexpr std::size_t kMost = 8;

  // What becomes of the others when one fails.
  enum class Others : std::uint8_t {
    kEnd,   // the request fails as a whole
    kGoOn,  // a DEL does what it can
  };
  // No read is waited for beyond the deadline. `asker`: the namespace whose share of the server
  // they take; empty: the node's own. `request_id`: for the log lines about them.
  explicit LiveReads(aio::Deadline deadline = aio::kNoDeadline, Others others = Others::kEnd,
                     std::string asker = {}, std::string request_id = {})
      : deadline_(deadline),
        others_(others),
        asker_(std::move(asker)),
        request_id_(std::move(request_id)) {}

  // One read; the next may begin when this goes.
  class Slot {
   public:
    Slot() = default;
    Slot(Slot&& other) noexcept : reads_(std::exchange(other.reads_, nullptr)) {}
    Slot& operator=(Slot&&) = delete;
    ~Slot() {
      if (reads_ != nullptr) reads_->end();
    }

   private:
    friend class LiveReads;
    explicit Slot(LiveReads* reads) : reads_(reads) {}
    LiveReads* reads_ = nullptr;
  };

  enum class Limit : std::uint8_t {
    kAtOnce,  // kMost run side by side
    kInAll,   // and no more are made: the next attempt finds what was read in memory
  };
  // Waits while kMost of them run; kTimeout. kUnavailable if this one must not begin: kMost were
  // made, or one has failed and the others end with it.
  aio::Task<Slot> begin(Limit limit) {
    while (limit == Limit::kAtOnce && running_ >= kMost && !has_failed_) {
      MNET_CO_TRY_VOID(co_await changes_.wait(deadline_));
    }
    if (has_failed_) {
      co_return Error(Errc::kUnavailable,
                      "not looked for: another network is missing or could not be read");
    }
    if (limit == Limit::kInAll && begun_ >= kMost) {
      co_return Error(Errc::kUnavailable,
                      "not read yet: one request reads at most 8 definitions from the API; the "
                      "next attempt continues");
    }
    ++begun_;
    ++running_;
    co_return Slot(this);
  }
  aio::Deadline deadline() const { return deadline_; }
  const std::string& asker() const { return asker_; }
  const std::string& request_id() const { return request_id_; }
  // One has failed, or there is no such object.
  void fail() {
    has_failed_ = others_ == Others::kEnd;
    changes_.notify_all();
  }

 private:
  void end() {
    --running_;
    changes_.notify_all();
  }

  const aio::Deadline deadline_;
  const Others others_;
  const std::string asker_, request_id_;
  std::size_t begun_ = 0, running_ = 0;
  bool has_failed_ = false;
  aio::Notifier changes_;
};

struct NetworkLookup {
  std::string ns, name;
  LiveReads* reads = nullptr;  // of the request; must outlive the task. None: not limited

  aio::Deadline deadline() const { return reads == nullptr ? aio::kNoDeadline : reads->deadline(); }
  std::string asker() const { return reads == nullptr ? std::string() : reads->asker(); }
  std::string request_id() const { return reads == nullptr ? std::string() : reads->request_id(); }
};

// Normal `AddedInterface`, Warning `NoNetworkFound` and so on (02, 5.6).
struct PodEvent {
  model::PodObjectPtr pod;
  bool is_warning = false;
  std::string reason, message;
  std::string request_id = {};  // for log lines about it; empty: no request led to it
};

// A message as it reaches the pod's owner: at most kMostOfEvent bytes, nothing that a terminal
// obeys.
inline std::string event_message(std::string_view text) {
  return excerpt(text, kMostOfEvent - std::string_view("...").size());
}

// Why a network status could not be written just now.
struct StatusDelay {
  Error why;  // kDenied: it may take a person to change that
  std::optional<std::chrono::seconds> at_least = {};  // as the server asks
  std::string_view advice = {};                       // what to do about it, for people
};

// Called when objects change, as it happens. The same state may be reported again.
struct ObjectChanges {
  // nullptr: there was none, or there is none any more.
  std::function<void(const model::PodObjectPtr& before, const model::PodObjectPtr& now)> pod;
  std::function<void(const std::string& key)> network;  // `<ns>/<name>`: it is new or another
};

// From the text of a network status, none if there is none, to the one that is to be; none: nothing
// is to change.
using StatusEdit =
    std::function<Result<std::optional<std::string>>(const std::optional<std::string>& present)>;

class ObjectSource {
 public:
  virtual ~ObjectSource() = default;

  // The pod that fits (02, 5.2); nullptr if there is none at the end of the wait. An error if there
  // is one with another UID, `expected pod UID "<a>" but got "<b>" from Kube API`, or if the source
  // cannot tell.
  virtual aio::Task<model::PodObjectPtr> find_pod(PodLookup lookup) = 0;
  // Whether a container is a pod only if it has an object. If so, an ADD for one that has none
  // attaches nothing (02, 5.3); if not, it is a pod without annotations (00-index, "Folder of
  // manifests").
  virtual bool is_complete() const = 0;
  // nullptr if there is none; names that cannot exist are not asked for (02, 0.3). kUnavailable if
  // the request may not have it read.
  virtual aio::Task<model::NetworkDefinitionPtr> find_network(NetworkLookup lookup) = 0;
  // What the text of that definition becomes when it is read; none if no such definition is known
  // here. Asks no server.
  virtual std::optional<json::Count> count_network(const std::string& ns,
                                                   const std::string& name) const = 0;

  // Sets the annotation `network-status` to `text` (02, 5.7). A pod that is gone is fine; one
  // that was replaced is an error. `log`: of the request that waits for it.
  virtual aio::Task<void> write_status(model::PodObjectPtr pod, std::string text, Log log) = 0;
  // One attempt at the same, for a status that no pod waits for: none if nothing is left to do. An
  // error is final.
  virtual aio::Task<std::optional<StatusDelay>> try_status(model::PodObjectPtr pod,
                                                           std::string text, Log log) {
    MNET_CO_TRY_VOID(co_await write_status(std::move(pod), std::move(text), std::move(log)));
    co_return std::optional<StatusDelay>();
  }
  // What write_status(), or another keeper of the status, wrote last; none if there is nothing.
  virtual aio::Task<std::optional<std::string>> find_status(model::PodObjectPtr pod) {
    const std::string* text = pod->annotation(model::kNetworkStatusAnnotation);
    co_return text == nullptr ? std::optional<std::string>() : std::optional<std::string>(*text);
  }
  // Changes what is there now, which others may write, too: `edit` is called again if one does
  // meanwhile. What happens to the pod is as for write_status().
  virtual aio::Task<void> edit_status(model::PodObjectPtr pod, StatusEdit edit) {
    MNET_CO_TRY(auto&& present, co_await find_status(pod));
    MNET_CO_TRY(auto&& text, edit(present));
    if (!text) co_return Result<void>();
    co_return co_await write_status(std::move(pod), *std::move(text), Log());
  }
  // Whether clients of hot-plug keep the status themselves, as the hot-plug controller does through
  // the API (02, 5.9; 05, 1.6). If not, we do.
  virtual bool clients_keep_status() const { return is_complete(); }
  // Neither waits nor fails.
  virtual void send(PodEvent event) = 0;
  // From now on `changes` is called, on the event loop. At most once; before anything is read.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): a source that changes keeps it
  virtual void observe(ObjectChanges /*changes*/) {}
};

}  // namespace mnet::attach
