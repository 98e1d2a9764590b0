#include "thin/thin.h"

#include <nss.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/exec_plugins.h"
#include "adapters/file_ports.h"
#include "adapters/folder_source.h"
#include "adapters/kube_source.h"
#include "adapters/node_devices.h"
#include "aio/blocking_pool.h"
#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "attach/ports.h"
#include "attach/request.h"
#include "base/error.h"
#include "base/log.h"
#include "base/random_number.h"
#include "base/reading.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "base/version.h"
#include "cni/error.h"
#include "cni/version.h"
#include "json/json.h"
#include "kube/kube.h"
#include "model/messages.h"
#include "model/netconf.h"
#include "model/pod_args.h"
#include "skel/skel.h"
#include "store/pending_dels.h"
#include "store/store.h"
#include "sys/environment.h"
#include "sys/signals.h"
#include "thin/config.h"
#include "thin/locks.h"
#include "thin/log.h"
#include "thin/slots.h"
#include "upkeep/rule.h"
#include "wire/wire.h"

namespace mnet::thin {
namespace {

using attach::Verb;
using Clock = std::chrono::steady_clock;

// One request waits for few things at once; each thread costs its start.
constexpr std::size_t kBlockingThreads = 2;
// How long the answer waits for events that are still under way to the API.
constexpr auto kLastEvents = std::chrono::seconds(2);
// How long the runtime hears that a delegate's DEL fails, since it first did (02, 6.4).
constexpr auto kMostOfRetries = std::chrono::minutes(10);

// The core with all it needs, for one request.
class Node {
 public:
  // `api` may be null.
  Node(const Config& config, const Surroundings& surroundings, std::unique_ptr<kube::Api> api,
       attach::Options options, const Log& log)
      : ports_(pool_, slots_, exec_settings(config, surroundings), log),
        folder_(make_folder(config, log)),
        kube_(make_kube(std::move(api), log)),
        devices_(loop_.get_executor(), {.kubelet_dir = config.kubelet_dir}, pool_,
                 kube_ ? &kube_->api() : nullptr, log),
        background_(loop_.get_executor(), log),
        rule_(ports_.ports().records, ports_.ports().results, ports_.ports().links,
              options.boot_id),
        attachments_(all_ports(), std::move(options)) {
    if (folder_) background_.spawn("objects folder", folder_->follow());
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  // The events are written by then, and nothing refers to this any more.
  ~Node() { (void)aio::run(loop_, finish()); }

  attach::Attachments& attachments() { return attachments_; }

  template <typename T>
  Result<T> run(aio::Task<T> task) {
    return aio::run(loop_, std::move(task));
  }

 private:
  static adapters::ExecSettings exec_settings(const Config& config,
                                              const Surroundings& surroundings) {
    adapters::ExecSettings settings;
    settings.timeout = config.delegate_timeout;
    settings.environment = surroundings.environment;
    return settings;
  }

  std::unique_ptr<adapters::FolderSource> make_folder(const Config& config, const Log& log) {
    if (config.objects_dir.empty()) return nullptr;
    return std::make_unique<adapters::FolderSource>(
        loop_.get_executor(), config.objects_dir, pool_, log,
        adapters::FolderSettings{.status_dir = store::status_directory(config.cni_dir)});
  }

  // One request needs no stores.
  std::unique_ptr<adapters::KubeSource> make_kube(std::unique_ptr<kube::Api> api, const Log& log) {
    if (api == nullptr) return nullptr;
    adapters::KubeSettings settings;
    settings.follows = false;
    return std::make_unique<adapters::KubeSource>(loop_.get_executor(), std::move(api),
                                                  std::move(settings), log);
  }

  attach::Ports all_ports() {
    attach::Ports all = ports_.ports();
    if (folder_) all.source = folder_.get();
    if (kube_) all.source = kube_.get();
    all.devices = &devices_;
    all.rule = &rule_;
    return all;
  }

  // Without a limit: what waits for a disk refers to this. An API may be away for longer than a
  // runtime waits.
  aio::Task<void> finish() {
    background_.cancel();
    devices_.cancel();
    auto joined = co_await background_.join();
    joined = co_await devices_.wait_ended(aio::kNoDeadline);
    if (kube_) {
      kube_->cancel_reads();
      auto sent = co_await kube_->flush(Clock::now() + kLastEvents);
      if (!sent) kube_->cancel();
      joined = co_await kube_->flush(aio::kNoDeadline);
    }
    if (folder_) joined = co_await folder_->flush(aio::kNoDeadline);
    co_return joined;
  }

  aio::asio::io_context loop_{1};
  aio::BlockingPool pool_{kBlockingThreads};
  FewSlots slots_;
  adapters::FilePorts ports_;
  std::unique_ptr<adapters::FolderSource> folder_;
  std::unique_ptr<adapters::KubeSource> kube_;
  adapters::NodeDevices devices_;
  aio::Group background_;
  upkeep::Rule rule_;
  attach::Attachments attachments_;
};

class Call {
 public:
  // Both must outlive the call.
  Call(const Surroundings& surroundings, const skel::CmdArgs& args, Config config)
      : surroundings_(surroundings),
        args_(args),
        config_(std::move(config)),
        id_(wire::request_id(surroundings.random())),
        lines_(config_, surroundings.front),
        log_(lines_.log().with_request(id_)) {}

  // `fault`: why a DEL does without (a part of) its configuration.
  Result<void> run(Verb verb, json::Object document, std::optional<Error> fault) {
    auto done = checked(verb, std::move(document), std::move(fault));
    if (!done) log_.error(done.error().text());
    return done;
  }

 private:
  Result<void> checked(Verb verb, json::Object document, std::optional<Error> fault) {
    MNET_TRY(auto&& request,
             attach::read_request(verb, begin_request(),
                                  attach::read_conf(verb, std::move(document), std::move(fault)),
                                  attach::parse_args(verb, args_.args)));
    MNET_TRY(auto&& api, make_api(verb));
    MNET_TRY(auto&& locks, take_locks(verb));
    attach::Options options{.boot_id = sys::boot_id()};
    if (verb == Verb::kGc) {
      options.let_others_in = [&locks] { return locks.let_others_in(); };
      options.lock_one = [&locks](const std::string& id) { return locks.lock_one(id); };
    }
    Node node(config_, surroundings_, std::move(api), std::move(options), lines_.log());
    switch (verb) {
      case Verb::kAdd:
        return add(node, std::move(request));
      case Verb::kDel:
        return del(node, std::move(request));
      case Verb::kCheck:
        return check(node, std::move(request));
      case Verb::kGc:
        return node.run(node.attachments().gc(std::move(request)));
      case Verb::kStatus:
        return node.run(node.attachments().status(std::move(request)));
    }
    return Error(Errc::kBug, "no such verb");
  }

  // Null if the configuration names no API. Pods whose networks only the API knows must not come
  // up without them; a DEL needs none.
  Result<std::unique_ptr<kube::Api>> make_api(Verb verb) const {
    if (!config_.objects_dir.empty()) return nullptr;
    auto access = find_access();
    if (access && !*access) return nullptr;
    Result<std::unique_ptr<kube::Api>> api;
    if (access) {
      // Other modules than these are the host's, of another libc.
      ::__nss_configure_lookup("hosts", "files dns");
      kube::ApiSettings settings;
      settings.user_agent = user_agent("multus");
      settings.environment = surroundings_.environment;
      api = kube::Api::make(**std::move(access), std::move(settings), log_);
    } else {
      api = std::move(access).error();
    }
    if (api) return api;
    Error refusal = cni::coded(cni::Code::kInvalidConfig,
                               cat("Multus: error getting k8s client: ", api.error().text()));
    if (verb != Verb::kDel) return refusal;
    log_.warning(refusal.text());
    return nullptr;
  }

  // The kubeconfig of the configuration, else the variables of a pod, else none (03, 9.1).
  Result<std::optional<kube::Config>> find_access() const {
    auto access = config_.kubeconfig.empty() ? kube::in_cluster_config(pod_variables())
                                             : kube::load_kubeconfig(config_.kubeconfig);
    if (access) return std::optional<kube::Config>(*std::move(access));
    const bool is_none =
        config_.kubeconfig.empty() && access.error().code() == Errc::kNotFound && !names_server();
    if (is_none) return std::optional<kube::Config>();
    return std::move(access).error();
  }

  bool names_server() const {
    const auto has = [this](std::string_view name) {
      return !surroundings_.front.env(name).value_or("").empty();
    };
    return has("KUBERNETES_SERVICE_HOST") && has("KUBERNETES_SERVICE_PORT");
  }
  std::vector<std::string> pod_variables() const {
    std::vector<std::string> out;
    for (const char* name : {"KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"}) {
      out.push_back(cat(name, "=", surroundings_.front.env(name).value_or("")));
    }
    return out;
  }

  Result<Locks> take_locks(Verb verb) const {
    if (verb == Verb::kStatus) return Locks();
    auto locks = verb == Verb::kGc ? Locks::for_all(config_.cni_dir)
                                   : Locks::for_container(config_.cni_dir, args_.container_id);
    if (locks) return locks;
    // A sandbox whose DEL fails for good could never be removed.
    if (verb == Verb::kDel) {
      log_.error("DEL continues without a lock", locks.error());
      return Locks();
    }
    return locks.error().wrap("Multus: cannot lock the container");
  }

  attach::Request begin_request() const {
    attach::Request request;
    request.container_id = args_.container_id;
    request.netns = args_.netns;
    request.ifname = args_.ifname;
    request.path = args_.path;
    request.id = id_;
    request.log = log_;
    return request;
  }

  Result<void> add(Node& node, attach::Request request) {
    const auto pending = find_pending();
    if (!pending) return store::pending_in_the_way(pending.error());
    if (*pending) {
      const auto deleted = attach::complete(node.run(node.attachments().del(request)));
      if (!deleted) log_.error("ADD continues after a failed pending DEL", deleted.error());
    }
    MNET_TRY(auto&& result, node.run(node.attachments().add(std::move(request))));
    if (*pending) {
      if (auto forgotten = forget((*pending)->file); !forgotten)
        return store::pending_in_the_way(forgotten.error());
    }
    return skel::print_result(result, config_.cni_version, surroundings_.front);
  }

  static Result<void> check(Node& node, attach::Request request) {
    MNET_TRY([[maybe_unused]] const auto& reported,
             node.run(node.attachments().check(std::move(request))));
    return {};
  }

  Result<void> del(Node& node, attach::Request request) {
    request.pending_body = wire::pending_del_body(call(), args_.stdin_data);
    MNET_TRY(auto&& outcome, node.run(node.attachments().del(std::move(request))));
    if (outcome.failed) return end_failed(outcome);
    if (outcome.unreadable && !outcome.is_pending) return *std::move(outcome.unreadable);
    if (outcome.unreadable) return {};
    const auto pending = find_pending();
    const auto forgotten = pending && *pending ? forget((*pending)->file) : Result<void>();
    if (!pending) log_.error("cannot read pending DELs", pending.error());
    if (!forgotten) log_.error("cannot remove a pending DEL", forgotten.error());
    return {};
  }

  // The runtime tries again for a while; then its pod may go. What is on record stays for a daemon,
  // for GC or for this container's next ADD.
  Result<void> end_failed(const attach::DelOutcome& outcome) const {
    if (!outcome.is_pending) return *outcome.failed;
    const auto pending = find_pending();
    if (!pending || !*pending) return *outcome.failed;
    if (std::chrono::system_clock::now() - (*pending)->written < kMostOfRetries) {
      return *outcome.failed;
    }
    log_.error("DEL succeeds although it could not remove everything", *outcome.failed);
    return {};
  }

  wire::Call call() const {
    return {.command = "DEL",
            .container_id = args_.container_id,
            .netns = args_.netns,
            .ifname = args_.ifname,
            .args = args_.args,
            .path = args_.path};
  }

  // A DEL that a shim wrote down for a daemon that then never came (03, 2.14).
  using Pending = std::optional<store::PendingDels::Record>;
  Result<Pending> find_pending() const {
    MNET_TRY(auto&& record,
             store::PendingDels(config_.cni_dir).find(args_.container_id, args_.ifname));
    if (!record) return std::nullopt;
    if (!record->body) {
      const Error& why = record->body.error();
      return is_damage(why) ? Result<Pending>(std::nullopt) : why;
    }
    const auto body = wire::parse_request(*record->body);
    if (!body) return std::nullopt;
    const auto is = [&body](std::string_view name, const std::string& value) {
      const std::string* found = body->find_env(name);
      return found != nullptr && *found == value;
    };
    const bool is_ours =
        is("CNI_CONTAINERID", args_.container_id) && is("CNI_IFNAME", args_.ifname);
    return is_ours ? std::move(record) : std::nullopt;
  }

  Result<void> forget(const std::string& file) const {
    MNET_TRY([[maybe_unused]] const auto& removed,
             store::PendingDels(config_.cni_dir).remove(file));
    return {};
  }

  const Surroundings& surroundings_;
  const skel::CmdArgs& args_;
  const Config config_;
  const std::string id_;
  const CallLog lines_;
  const Log log_;
};

Result<void> is_readable(const json::Object& member) {
  MNET_TRY([[maybe_unused]] const auto& config, read_config(member));
  return {};
}

Result<void> handle(Verb verb, const Surroundings& surroundings, const skel::CmdArgs& args) {
  const auto refusal = [](Error error) {
    return model::core_error(std::move(error), model::Pod(), "error loading netconf");
  };
  auto document = model::parse_netconf(args.stdin_data);
  if (!document && verb != Verb::kDel) return refusal(std::move(document).error());
  std::optional<Error> fault;
  if (!document) fault = document.error();
  json::Object usable = std::move(document).value_or(json::Object());
  auto config = read_config(usable);
  if (!config) {
    if (verb != Verb::kDel) return refusal(std::move(config).error());
    fault = config.error();
    config = read_config(model::readable_members(usable, is_readable));
  }
  Call call(surroundings, args, *std::move(config));
  return call.run(verb, std::move(usable), std::move(fault));
}

}  // namespace

Surroundings Surroundings::of_process() {
  sys::reset_signals();
  return {.front = skel::Front::of_process(),
          .environment = sys::environment(),
          .random = random_number};
}

int run(const Surroundings& surroundings) {
  const auto handled_as = [&surroundings](Verb verb) -> skel::Handler {
    return [&surroundings, verb](const skel::CmdArgs& args) {
      return handle(verb, surroundings, args);
    };
  };
  const skel::Plugin plugin{.add = handled_as(Verb::kAdd),
                            .del = handled_as(Verb::kDel),
                            .check = handled_as(Verb::kCheck),
                            .gc = handled_as(Verb::kGc),
                            .status = handled_as(Verb::kStatus),
                            .versions = cni::all_versions(),
                            .about = "meta-plugin that delegates to other CNI plugins",
                            .own_mark = std::string(wire::kRequestIdVariable)};
  return skel::run(plugin, surroundings.front);
}

}  // namespace mnet::thin
