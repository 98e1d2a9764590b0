// What ADD, DEL, CHECK, STATUS and GC mean (02). Sees no HTTP, no Kubernetes, no files and no
// processes: it reaches all that through ports, which adapters fulfils.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "aio/task.h"
#include "attach/ports.h"
#include "base/log.h"
#include "chain/caller.h"
#include "cni/args.h"
#include "cni/result.h"
#include "model/netconf.h"
#include "model/pod_args.h"

namespace mnet::attach {

class Core;

using NetConfPtr = std::shared_ptr<const model::NetConf>;

// DELs that the runtime did not just ask for, and hot-plug by annotation, share slots as if they
// were of one namespace of this name, which no namespace has: together they come after every pod
// that waits.
inline constexpr std::string_view kBackground = "(upkeep)";

// Read and checked by attach/request.h.
struct Request {
  std::string container_id;  // empty for STATUS and GC
  std::string netns;
  std::string ifname;
  std::string path;  // CNI_PATH
  NetConfPtr conf;   // never null
  model::Pod pod;
  cni::ArgPairs args;                     // what every delegate gets
  std::string id;                         // request id, for the delegates
  std::uint64_t ticket = 0;               // order of arrival: delegates of older requests run first
  std::shared_ptr<chain::Caller> caller;  // never null
  Log log;                                // for the lines of this request
  // For a DEL: what is recorded if it must be repeated (03, 2.14). Empty: it is on record already.
  std::string pending_body = {};
  DelRule* rule = nullptr;  // of a DEL; none: the runtime has just asked for it
  bool is_last = false;     // of a DEL that is given up: a plugin that fails stops no other
  // Hot-plug by annotation: no runtime waits for it.
  bool is_background = false;

  // The namespace with which it shares slots.
  std::string share() const {
    return rule == nullptr && !is_background ? pod.ns : std::string(kBackground);
  }
};

// What a DEL could not remove: it stays recorded, and another DEL of the same container must
// follow. If neither error is set, all is gone. Both have code 11.
struct DelOutcome {
  // Delegates whose DEL failed. With `keeps_failed` (retryDeleteOnError) the runtime must try
  // again.
  std::optional<Error> failed = {};
  bool keeps_failed = false;
  // `failed` says that nothing is on record and that the configuration cannot be read: what there
  // is to delete is unknown.
  bool is_unknown = false;
  // Files that could not be read, so that there may be more to delete; and what only the result
  // cache knows and could not be deleted.
  std::optional<Error> unreadable = {};
  // The DEL is recorded as a pending DEL: the runtime need not try again.
  bool is_pending = false;
  // Nothing of what is left was ever attached: the ADD failed, and so does what undoes it.
  bool is_of_failed_add = false;
};
// Success if the DEL removed everything; otherwise the error to retry on.
Result<void> complete(const Result<DelOutcome>& outcome);

struct Options {
  // How long ADD waits for the readiness indicator, and how often it looks (02, 5.1 step 2).
  std::chrono::milliseconds readiness_wait = std::chrono::seconds(45);
  std::chrono::milliseconds readiness_poll = std::chrono::seconds(1);
  // The id of this boot of the machine, for attachment records (05, 3.2).
  std::string boot_id = {};
  // Whether edits of the networks annotation are applied to running pods (05, 3).
  bool has_hotplug = false;
  // Whether hot-plug covers pods of this namespace; none: of every namespace.
  std::function<bool(std::string_view ns)> hotplugs_in = {};
  // Called by GC before the plugins of each network but the first. Where requests of other
  // processes must not run beside it, they may run now.
  std::function<Result<void>()> let_others_in = {};
  // Likewise, before it deletes one container: from then on requests of other processes run beside
  // it, but none for this container, until what this yields goes; nullptr: one runs. They are kept
  // out again by let_others_in().
  std::function<Result<std::shared_ptr<void>>(const std::string& container_id)> lock_one = {};
};

// One request at a time per container, in order of arrival; different containers side by side.
// Must not be destroyed while one of its tasks runs.
class Attachments {
 public:
  explicit Attachments(Ports ports, Options options = {});
  virtual ~Attachments();

  // The master's result, in whatever version its plugin answered.
  virtual aio::Task<cni::NetResult> add(Request request);
  // Fails only if the request itself is malformed, or with code 11 and everything kept if the
  // machine lacks the means to carry it out just now (00-index, "DEL errors").
  virtual aio::Task<DelOutcome> del(Request request);
  // How many networks failed it that do not fail their pod (`checkNetworks`); each was reported in
  // the log and as an event.
  virtual aio::Task<std::size_t> check(Request request);
  // Whether an ADD could be served now. Code 50 if the node is not ready; else what the master's
  // plugins say, unchanged.
  virtual aio::Task<void> status(Request request);
  virtual aio::Task<void> gc(Request request);

  // What the verbs share. Hot-plug builds on it, so that it takes turns with them.
  Core& core() { return *core_; }

 protected:
  Attachments();  // for fakes, which override all verbs

 private:
  std::unique_ptr<Core> core_;
};

}  // namespace mnet::attach
