#include "daemon/assembly.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "adapters/exec_plugins.h"
#include "adapters/file_ports.h"
#include "adapters/missed_pods.h"
#include "admission/admission.h"
#include "admission/delegate_memory.h"
#include "admission/delegate_times.h"
#include "admission/large_requests.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "attach/ports.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "certs/certs.h"
#include "daemon/cni_service.h"
#include "daemon/config.h"
#include "daemon/hotplug_node.h"
#include "daemon/node_config.h"
#include "daemon/object_metrics.h"
#include "daemon/objects.h"
#include "daemon/pending_del_replay.h"
#include "daemon/process.h"
#include "daemon/readiness.h"
#include "daemon/request.h"
#include "daemon/routes.h"
#include "daemon/self_check.h"
#include "daemon/status.h"
#include "daemon/upkeep_node.h"
#include "http/http.h"
#include "json/at.h"
#include "json/json.h"
#include "metrics/metrics.h"
#include "metrics/record_counts.h"
#include "store/store.h"
#include "sys/cgroup.h"
#include "sys/environment.h"
#include "sys/spawn.h"
#include "sys/used_netns.h"
#include "wire/wire.h"

namespace mnet::daemon {
namespace {

// Between two looks whether a daemon that we took over from has ended.
constexpr std::chrono::seconds kLookForOther{1};

std::size_t max_delegates(const Config& config) {
  if (config.max_delegates) return static_cast<std::size_t>(*config.max_delegates);
  return admission::default_max_delegates(sys::memory_limit(), std::thread::hardware_concurrency());
}

// How many slots one delegate may count for. One where slots do not stand for memory, because the
// operator chose their number or there is no limit.
std::size_t most_slots_of_one(const Config& config) {
  if (config.max_delegates || !sys::memory_limit()) return 1;
  const std::size_t all = max_delegates(config);
  return all - std::min(all - 1, admission::kept_for_del(all));
}

// Requests executed at once. Those that wait cost little more than their bodies, and those that run
// find work enough for all delegates.
std::size_t max_requests(const Config& config) {
  if (config.connection_limit) return static_cast<std::size_t>(*config.connection_limit);
  return admission::default_max_requests(max_delegates(config));
}

admission::Admission make_requests(const aio::asio::any_io_executor& executor,
                                   const Config& config) {
  const admission::Pace pace = admission::default_pace(std::thread::hardware_concurrency());
  const std::size_t most = max_requests(config);
  return admission::Admission(most, config.connection_limit ? 0 : admission::kept_for_del(most),
                              executor, pace);
}

// Plugins may hang: most slots stay free of replays.
std::size_t replays_at_once(const Config& config) {
  return std::clamp<std::size_t>(max_delegates(config) / 4, 1, 8);
}

metrics::DelegateRun::End end_of(const adapters::FinishedRun& run) {
  if (!run.failure) return metrics::DelegateRun::End::kSuccess;
  return *run.failure == Errc::kTimeout ? metrics::DelegateRun::End::kTimeout
                                        : metrics::DelegateRun::End::kError;
}

void note_memory(const adapters::FinishedRun& run, admission::DelegateMemory& memory,
                 const Log& log) {
  if (!memory.note(run.type, run.peak_memory, sys::own_peak_memory())) return;
  log.verbose(cat("plugin ", excerpt(run.type), " took ", run.peak_memory >> 20,
                  " MiB of memory: from now on each run takes ", memory.slots_of(run.type),
                  " of the maxDelegates slots"));
}

// What memory that runs out costs: a delegate, not us.
std::optional<sys::ChildGroup> settle_group(const Config& config, const Log& log) {
  const auto changed = sys::be_killed_one_by_one();  // where it cannot, the self-check tells
  if (changed && *changed) {
    log.verbose(
        "memory.oom.group of the daemon's control group was 1 and is 0 now: when memory runs out, "
        "the kernel kills a plugin and not the daemon, too");
  }
  if (!config.delegate_cgroup) return std::nullopt;
  auto group = sys::ChildGroup::make(admission::kOwnMemory);
  if (!group) {
    log.warning(cat("delegateCgroup: plugins run in the daemon's own control group: ",
                    group.error().text()));
    return std::nullopt;
  }
  log.verbose("plugins run in a control group of their own");
  return *std::move(group);
}

adapters::ExecSettings exec_settings(const Config& config, metrics::Metrics& metrics,
                                     admission::DelegateMemory& memory,
                                     const std::optional<sys::ChildGroup>& group, const Log& log) {
  adapters::ExecSettings settings;
  settings.world.root = config.chroot_dir;
  settings.world.mount_namespace = config.delegate_mount_namespace;
  settings.timeout = config.delegate_timeout;
  settings.environment = sys::environment();
  settings.delegates_are_expendable = true;
  settings.control_group = group ? group->fd() : -1;
  settings.oom_kills = [&group] { return group ? group->oom_kills() : sys::oom_kills(); };
  settings.slots_of = [&memory](const std::string& type) { return memory.slots_of(type); };
  settings.finished = [&metrics, &memory, log](const adapters::FinishedRun& run) {
    note_memory(run, memory, log);
    metrics.observe_delegate({.type = run.type,
                              .command = run.command,
                              .waited = run.waited,
                              .took = run.took,
                              .end = end_of(run)});
  };
  settings.hint = node_hint;
  settings.missing = [&metrics](const std::string& type) { metrics.count_missing_plugin(type); };
  return settings;
}

// The directories that requests will name, as far as that is known before one has come: a container
// that an earlier daemon attached has its records there.
std::string users_cni_dir(const Config& config) {
  const auto users = users_configuration(config);
  return users ? json::text_of(users->find_folded("cniDir")) : std::string();
}

http::Limits http_limits(const Config& config) {
  http::Limits limits;
  limits.body_bytes = static_cast<std::uint64_t>(config.max_request_bytes);
  return limits;
}

std::vector<metrics::Sample> record_samples(const store::Counts& counts) {
  const auto sample = [](const char* kind, std::size_t number) {
    return metrics::Sample{.labels = {{"kind", kind}}, .value = static_cast<double>(number)};
  };
  return {sample("attachment", counts.attachments), sample("scratch", counts.scratch),
          sample("result", counts.results), sample("bad_pending_del", counts.bad_pending_dels)};
}

}  // namespace

Assembly::Assembly(const aio::asio::any_io_executor& executor, Config the_config, const Log& log)
    : config(std::move(the_config)),
      memory(most_slots_of_one(config)),
      delegates(max_delegates(config), admission::kept_for_del(max_delegates(config))),
      requests(make_requests(executor, config)),
      large({.free = admission::free_weight(max_requests(config))}),
      times(delegates, requests.pacer()),
      group(settle_group(config, log)),
      ports(pool, times, exec_settings(config, metrics, memory, group, log), log),
      objects(executor, config, sys::environment(), pool, log),
      devices(executor, {.kubelet_dir = config.kubelet_dir}, pool, objects.api(), log),
      statuses(executor, attachments, log),
      handover(
          wire::socket_path(config.socket_dir), [this, log] { return end_orphans(pool, log); },
          log),
      attachments(all_ports(),
                  {.boot_id = sys::boot_id(),
                   .has_hotplug = config.hotplug.is_enabled,
                   .hotplugs_in = [hotplug = config.hotplug](
                                      std::string_view ns) { return hotplug.includes(ns); }}),
      host_links(pool, config.delegate_mount_namespace, config.chroot_dir),
      rule(ports.ports().records, ports.ports().results, host_links, sys::boot_id(),
           [this] { return pool.run([] { return sys::list_used_netns(); }); }),
      readiness(config.readiness_indicator_file),
      pending({.pool = pool,
               .core = attachments,
               .requests = requests,
               .metrics = metrics,
               .locks = &handover.locks(),
               .rules = RequestRules(config),
               .next_arrival = [this] { return arrivals.next(); },
               .rule = &rule,
               .at_once = replays_at_once(config)},
              log),
      upkeep_node({.pool = pool,
                   .requests = requests,
                   .pending = pending,
                   .objects = objects,
                   .rules = RequestRules(config),
                   .next_arrival = [this] { return arrivals.next(); },
                   .sees_host = sees_host_root(config)},
                  log),
      upkeep(attachments, rule, upkeep_node,
             {.mode = config.reconcile, .grace = config.reconcile_grace}, log),
      operations({.pool = pool,
                  .core = attachments,
                  .requests = requests,
                  .pending = pending,
                  .upkeep = upkeep,
                  .rule = rule,
                  .rules = RequestRules(config),
                  .next_arrival = [this] { return arrivals.next(); }},
                 log),
      service({.core = attachments,
               .hotplug = hotplug,
               .pending = pending,
               .readiness = readiness,
               .metrics = metrics,
               .times = times,
               .locks = handover.locks(),
               .rules = RequestRules(config)},
              log),
      routes({.service = service,
              .readiness = readiness,
              .requests = requests,
              .metrics = metrics,
              .arrivals = arrivals,
              .share_locks = [this] { return handover.share(); },
              .status = [this] { return status_text(); },
              .operate =
                  [this](std::string path, std::string body) {
                    return operations.run(std::move(path), std::move(body));
                  }},
             log),
      server(executor, routes.handler(), http_limits(config), log),
      probes(executor, routes.probe_handler(), http_limits(config), log),
      records(pool, [this] { return pending.directories(); }) {
  if (objects.kube() != nullptr) {
    missed.emplace(objects.kube()->pods(), ports.ports().records, *objects.source(), log);
  }
  add_gauges();
  add_object_metrics(metrics, objects);
  if (config.hotplug.is_enabled && objects.source() != nullptr) make_controller(executor, log);
  readiness.require([this] { return objects.lacks(); });
  if (certs::NodeCertificate* certificate = objects.certificate()) {
    add_certificate_metrics(metrics, certificate);
    certificate->on_taken([this](certs::Time end) { metrics.set_certificate_expiry(end); });
  }
  pending.look_in(config.records_dir());
  if (const std::string users = users_cni_dir(config); !users.empty()) pending.look_in(users);
}

// Plugins may hang: most slots stay free of hot-plug.
void Assembly::make_controller(const aio::asio::any_io_executor& executor, const Log& log) {
  const std::string users = users_cni_dir(config);
  const std::string own =
      config.cni_dir.empty() ? std::string(wire::kDefaultCniDir) : config.cni_dir;
  hotplug_node.emplace(HotplugNodeNeeds{.requests = requests,
                                        .pending = pending,
                                        .objects = objects,
                                        .next_arrival = [this] { return arrivals.next(); },
                                        .settings = [this] { return hotplug_settings(config); },
                                        .metrics = metrics,
                                        .cni_dir = users.empty() ? own : users},
                       log);
  model::HotplugSettings settings = config.hotplug;
  settings.workers = std::min(settings.workers, replays_at_once(config));
  controller.emplace(executor, attachments, *hotplug_node, std::move(settings), log);
  objects.source()->observe(
      {.pod = [this](const auto& before, const auto& now) { controller->pod_changed(before, now); },
       .network = [this](const std::string& key) { controller->network_changed(key); }});
  service.follow(
      {.added = [this](const std::string& cni_dir,
                       const std::string& id) { controller->container_changed(cni_dir, id); },
       .plugged = [this](const std::string& cni_dir,
                         const std::string& id) { controller->client_called(cni_dir, id); },
       .gone = [this](const std::string& id) { controller->container_gone(id); },
       .foreign_call =
           [this](std::string_view command) { hotplug_node->note_foreign_call(command); }});
  add_hotplug_metrics(metrics, *controller, *hotplug_node);
}

attach::Ports Assembly::all_ports() {
  attach::Ports all = ports.ports();
  all.source = objects.source();
  all.devices = &devices;
  if (objects.kube() != nullptr) all.owed = &statuses;
  all.room = &large;
  all.locks = &handover.locks();
  all.rule = &rule;
  return all;
}

// What cannot be read now is left as it was: the rest is asked for when something is wrong.
aio::Task<std::string> Assembly::status_text() {
  const auto counted = co_await records.refresh();
  const auto plugins = co_await pool.run([path = plugins_path(config)] { return names_in(path); });
  json::Object status = status_of(*this);
  status.set("plugins", plugins ? json::Value(*plugins) : json::Value());
  if (!counted) status.set("recordsError", counted.error().text());
  co_return cat(json::dump(status), "\n");
}

void Assembly::add_gauges() {
  metrics.add_gauge("multus_requests_in_progress", "Requests being executed",
                    [this] { return static_cast<double>(requests.running()); });
  metrics.add_gauge("multus_requests_queued", "Requests waiting to be executed",
                    [this] { return static_cast<double>(requests.waiting()); });
  metrics.add_gauge("multus_large_requests_queued",
                    "Requests with large configurations waiting for room in memory",
                    [this] { return static_cast<double>(large.waiting()); });
  metrics.add_gauge("multus_delegates_running", "Delegate processes running",
                    [this] { return static_cast<double>(delegates.running()); });
  metrics.add_gauge("multus_delegates_queued", "Delegates waiting for a slot",
                    [this] { return static_cast<double>(delegates.waiting()); });
  metrics.add_gauge("multus_pending_dels",
                    "DELs that reached no daemon or failed and are tried again, as of the last "
                    "round",
                    [this] { return static_cast<double>(pending.count()); });
  metrics.add_gauge("multus_pending_del_oldest_seconds",
                    "How long the oldest of them has been waiting",
                    [this] { return static_cast<double>(pending.oldest_age().count()); });
  metrics.add_gauge("multus_gone_containers",
                    "Containers on record whose namespace is gone, as of the last round",
                    [this] { return static_cast<double>(upkeep.gone()); });
  metrics.add_gauge("multus_namespaces_unseen",
                    "Whether the namespace of a running pod cannot be seen, as of the last round",
                    [this] { return upkeep.sees_running_pods() ? 0.0 : 1.0; });
  metrics.add_series(metrics::SeriesKind::kCounter, "multus_upkeep_total",
                     "Containers on record that were finished, given up or deleted without a "
                     "request",
                     [this] { return upkeep_node.counted(); });
  metrics.add_gauge("multus_ready", "Whether /readyz answers 200",
                    [this] { return readiness.why_not().empty() ? 1.0 : 0.0; });
  metrics.add_gauge("multus_statuses_owed",
                    "Network statuses that are not written yet although their ADDs are answered",
                    [this] { return static_cast<double>(statuses.count()); });
  if (missed) {
    metrics.add_gauge("multus_pods_without_networks",
                      "Pods found at the start that run without the networks they ask for",
                      [this] { return static_cast<double>(missed->count()); });
  }
  metrics.add_series(metrics::SeriesKind::kGauge, "multus_records",
                     "Files that record attachments, and damaged pending DELs, by kind",
                     [this] { return record_samples(records.numbers()); });
}

void Assembly::stop_own_work() {
  pending.stop();
  upkeep.stop();
  if (controller) controller->stop();
}

aio::Task<void> Assembly::find_missed_pods() {
  if (!missed) co_return Result<void>();
  MNET_CO_TRY_VOID(co_await objects.wait_loaded(aio::kNoDeadline));
  co_return co_await missed->look(pending.directories());
}

aio::Task<void> Assembly::take_up_statuses() {
  if (objects.kube() == nullptr) co_return Result<void>();
  MNET_CO_TRY_VOID(co_await objects.wait_loaded(aio::kNoDeadline));
  for (;;) {
    const bool is_alone = !handover.is_shared();
    MNET_CO_TRY_VOID(co_await statuses.take_up(pending.directories()));
    if (is_alone) co_return Result<void>();
    // By then the records say what the other daemon still owed when it ended.
    while (handover.is_shared()) {
      MNET_CO_TRY_VOID(co_await aio::sleep_for(kLookForOther));
    }
  }
}

}  // namespace mnet::daemon
