#include "daemon/self_check.h"

#include <net/if.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/node_devices.h"
#include "aio/blocking_pool.h"
#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "daemon/config.h"
#include "daemon/node_config.h"
#include "daemon/objects.h"
#include "json/json.h"
#include "kube/kube.h"
#include "metrics/metrics.h"
#include "model/networks_annotation.h"
#include "model/objects.h"
#include "model/requested_networks.h"
#include "nodeconf/generate.h"
#include "nodeconf/primary.h"
#include "plugin/plugin.h"
#include "selfcheck/api.h"
#include "selfcheck/cni_configurations.h"
#include "selfcheck/devices.h"
#include "selfcheck/finding.h"
#include "selfcheck/folders.h"
#include "selfcheck/keys.h"
#include "selfcheck/leftovers.h"
#include "selfcheck/mounts.h"
#include "selfcheck/networks.h"
#include "settings/config_check.h"
#include "settings/daemon_keys.h"
#include "sys/cgroup.h"
#include "sys/environment.h"
#include "sys/file.h"
#include "sys/mountinfo.h"
#include "sys/write_all.h"

namespace mnet::daemon {
namespace {

using selfcheck::Findings;
using selfcheck::Severity;
using namespace std::chrono_literals;

constexpr std::string_view kNamespaces = "/run/netns";
constexpr std::string_view kHostLocal =
    "/var/lib/cni/networks";  // where host-local keeps addresses
// Pods of one node name only a handful; further ones are not looked at, so that no tenant makes
// this costly.
constexpr std::size_t kMostNetworks = 200;
constexpr std::size_t kMostText = 1u << 20;  // of their configurations; no more are looked at
constexpr auto kPatience = 20s;
constexpr auto kAnswerTime = 5s;
constexpr std::array<std::string_view, 2> kNeeded = {
    "/api/v1/pods", "/apis/k8s.cni.cncf.io/v1/network-attachment-definitions"};

selfcheck::Finding does_not_start(const Error& why) {
  return {.severity = Severity::kError,
          .check = selfcheck::kConfiguration,
          .what = why.text(),
          .why = "The daemon does not start",
          .advice = "Correct the file"};
}

// Whether delegates run in the host's mounts while the daemon has mounts of its own.
bool is_in_container(const Config& config) {
  return !config.chroot_dir.empty() && config.delegate_mount_namespace.empty();
}

// Which the daemon logs by itself.
Findings check_configuration(const Config& config) {
  Findings found;
  for (const std::string& warning : config_warnings(config)) {
    found.push_back({.severity = Severity::kWarning,
                     .check = selfcheck::kConfiguration,
                     .what = with_file(config, warning),
                     .why = "The daemon does not do what the file says",
                     .advice = "Correct the file and restart the daemon"});
  }
  if (auto sound = check_surroundings(config); !sound) {
    found.push_back(does_not_start(sound.error()));
  }
  return found;
}

std::vector<selfcheck::Folder> folders(const Config& config) {
  const std::string root = is_in_container(config) ? config.chroot_dir : std::string();
  std::vector<selfcheck::Folder> all = {
      {.key = "cniDir",
       .path = config.records_dir(),
       .is_written = true,
       .is_made = true,
       .host_root = root},
      {.key = "socketDir", .path = config.socket_dir, .is_written = true, .is_made = true},
      {.key = "cniConfigDir", .path = config.cni_config_dir, .is_written = config.is_automatic()}};
  // Elsewhere its path belongs to another mount namespace.
  if (config.delegate_mount_namespace.empty()) {
    all.push_back({.key = "binDir", .path = cat(config.chroot_dir, config.plugin_dir())});
  }
  if (!config.objects_dir.empty()) {
    all.push_back({.key = "objectsDir", .path = config.objects_dir});
  }
  const auto& certificate = config.per_node_certificate;
  if (certificate && certificate->enabled && !certificate->cert_dir.empty()) {
    all.push_back(
        {.key = "certDir", .path = certificate->cert_dir, .is_written = true, .is_made = true});
  }
  if (is_in_container(config)) {
    all.push_back(
        {.key = "network namespaces", .path = std::string(kNamespaces), .host_root = root});
  }
  return all;
}

Findings check_mounts(const Config& config) {
  if (!is_in_container(config)) return {};
  const auto text = sys::read_file("/proc/self/mountinfo");
  if (!text) return {};
  return selfcheck::check_propagation(sys::parse_mountinfo(*text),
                                      {std::string(kNamespaces), clean_path(config.chroot_dir)});
}

Findings check_descriptors() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  return selfcheck::judge_descriptors(limit.rlim_cur);
}

Findings check_runtime_directory(const Config& config) {
  if (!config.is_automatic()) return {};
  const std::string directory = clean_path(config.cni_config_dir);
  return selfcheck::check_cni_configurations({.cni_config_dir = directory,
                                              .own_file = cat(directory, "/", nodeconf::kOwnFile),
                                              .autoconfig_dir = autoconfig_dir(config),
                                              .own_type = config.type});
}

// What is on the node itself. Blocks.
Findings check_files(const Config& config) {
  Findings found;
  for (const selfcheck::Folder& folder : folders(config)) {
    append(found, selfcheck::check_folder(folder));
  }
  append(found, check_mounts(config));
  append(found, selfcheck::check_disk(config.records_dir()));
  append(found, check_descriptors());
  append(found, selfcheck::judge_control_group(sys::is_killed_as_one()));
  append(found, check_runtime_directory(config));
  append(found, selfcheck::check_leftovers(config.records_dir(), std::chrono::system_clock::now()));
  append(found, selfcheck::check_addresses(cat(config.chroot_dir, kHostLocal), config.records_dir(),
                                           std::chrono::system_clock::now()));
  return found;
}

// The cluster network, as far as the configuration tells. Blocks.
std::vector<selfcheck::Network> cluster_network(const Config& config) {
  std::string path = config.cluster_network;
  if (config.is_automatic()) {
    const auto primary = nodeconf::choose_primary(autoconfig_dir(config), config.multus_master_cni);
    if (!primary) return {};
    path = primary->path;
  }
  if (!path.starts_with('/')) return {};
  auto text = sys::read_file(path);
  if (!text) return {};
  return {{.name = path, .config = *std::move(text)}};
}

bool has_link(const std::string& name) { return ::if_nametoindex(name.c_str()) != 0; }

// Blocks.
Findings check_networks(const Config& config, std::vector<selfcheck::Network> networks) {
  for (auto& network : cluster_network(config)) networks.push_back(std::move(network));
  const plugin::World world{.root = config.chroot_dir,
                            .mount_namespace = config.delegate_mount_namespace};
  const selfcheck::NodeView node{
      .has_plugin =
          [&](const std::string& type) {
            return plugin::find_plugin(world, type, {config.plugin_dir()}).has_value();
          },
      .has_link = has_link,
      .plugin_dir = config.plugin_dir()};
  return selfcheck::check_networks(networks, node);
}

// Namespace and name of each definition that pods of this node ask for.
std::set<std::pair<std::string, std::string>> wanted_networks(const Objects& objects) {
  std::set<std::pair<std::string, std::string>> wanted;
  for (const model::PodObjectPtr& pod : objects.pods()) {
    const std::string* text = pod->annotation(model::kNetworksAnnotation);
    if (text == nullptr || pod->is_cut) continue;
    const auto elements = model::parse_networks_annotation(*text, pod->ns);
    if (!elements) continue;
    for (const auto& element : *elements) {
      if (wanted.size() < kMostNetworks) wanted.emplace(element.ns, element.name);
    }
  }
  return wanted;
}

selfcheck::Finding no_definition(const std::string& name) {
  return {
      .severity = Severity::kError,
      .check = selfcheck::kPlugins,
      .what = cat("there is no network definition ", excerpt(name)),
      .why = "Pods of this node that ask for it do not start",
      .advice = "Create the NetworkAttachmentDefinition, or correct the annotation of the pods"};
}

// A self-check without a daemon.
aio::Task<Findings> look_alone(const Config* config, Objects* objects, aio::BlockingPool* pool) {
  const Log silent;
  const auto executor = co_await aio::asio::this_coro::executor;
  adapters::NodeDevices devices(
      executor, {.kubelet_dir = config->kubelet_dir, .kubelet = {.time = kAnswerTime}}, *pool,
      objects->api(), silent);
  SelfCheck check(*config, *objects, devices, *pool, silent);
  aio::Group following(executor, silent);
  following.spawn(objects->name(), objects->follow());
  auto found = co_await check.look(std::chrono::steady_clock::now() + kPatience,
                                   SelfCheck::Kubelet::kAlways);
  following.cancel();
  (void)co_await following.join();
  devices.cancel();
  (void)co_await devices.wait_ended(aio::kNoDeadline);
  co_return found;
}

// Faults that only the files together make; a fault of a single one is reported for itself.
void print_merged(const Config& config) {
  if (config.fragments.empty()) return;
  sys::print(STDOUT_FILENO, cat("configuration: ", config.file, " and ",
                                join(config.fragments, ", "), ": ", json::dump(config.document)));
}

json::Object json_of(const Config& config) {
  json::Array files = {config.file};
  for (const std::string& fragment : config.fragments) files.push_back(fragment);
  return {{"files", std::move(files)}, {"merged", config.document}};
}

// `config` is none where it could not be read.
int report(const Findings& findings, bool as_json, const Config* config) {
  if (as_json) {
    json::Object all = selfcheck::json_of(findings);
    if (config != nullptr) all.set("configuration", json_of(*config));
    sys::print(STDOUT_FILENO, json::dump(all));
  } else {
    if (config != nullptr) print_merged(*config);
    for (const selfcheck::Finding& finding : findings) {
      sys::print(STDOUT_FILENO, selfcheck::line_of(finding));
    }
    if (findings.empty()) sys::print(STDOUT_FILENO, "nothing found");
  }
  return selfcheck::has_error(findings) ? 1 : 0;
}

}  // namespace

aio::Task<std::vector<selfcheck::Network>> SelfCheck::fetch_networks() {
  std::vector<selfcheck::Network> networks;
  // As few as one request makes: pods choose the names.
  attach::LiveReads reads(aio::kNoDeadline, attach::LiveReads::Others::kGoOn);
  std::size_t bytes = 0;
  for (const auto& [ns, name] : wanted_networks(objects_)) {
    if (bytes > kMostText) break;
    const auto definition =
        co_await objects_.source()->find_network({.ns = ns, .name = name, .reads = &reads});
    if (!definition) continue;  // the API is away: another finding
    if (*definition == nullptr) {
      found_.push_back(no_definition(cat(ns, "/", name)));
      continue;
    }
    if (!(*definition)->resource_name.empty()) {
      device_needs_.push_back({(*definition)->key(), (*definition)->resource_name});
    }
    if ((*definition)->config && !(*definition)->config->empty()) {
      bytes += (*definition)->config->size();
      networks.push_back({.name = (*definition)->key(), .config = *(*definition)->config});
    }
  }
  co_return networks;
}

aio::Task<selfcheck::ApiVisit> SelfCheck::visit_api(Result<void> loaded) {
  kube::Api& api = *objects_.api();
  selfcheck::ApiVisit visit{.server = api.server()};
  if (const std::string lacks = objects_.lacks(); !lacks.empty()) {
    visit.failure = Error(Errc::kUnavailable, lacks);
  }
  for (const std::string_view path : kNeeded) {
    if (loaded || visit.failure) break;
    kube::Call call{.path = cat(path, "?limit=1")};
    const auto reply =
        co_await api.call(std::move(call), std::chrono::steady_clock::now() + kAnswerTime);
    if (!reply) {
      visit.failure = reply.error();
    } else if (!reply->ok()) {
      visit.refused.push_back(reply->error().text());
    }
  }
  if (!loaded && visit.refused.empty() && !visit.failure) visit.failure = loaded.error();
  visit.clock_difference = api.clock_difference();
  co_return visit;
}

aio::Task<Findings> SelfCheck::check_devices() {
  const auto offer = co_await devices_.offer();
  if (offer) co_return selfcheck::check_devices(device_needs_, **offer);
  if (offer.error().code() == Errc::kCancelled) co_return offer.error();
  co_return selfcheck::check_devices(device_needs_, offer.error());
}

aio::Task<Findings> SelfCheck::look(aio::Deadline deadline, Kubelet kubelet) {
  found_ = selfcheck::check_keys(config_.document, settings::daemon_keys(),
                                 [this](std::string_view key) { return config_.file_of(key); });
  auto files = co_await pool_.run([this]() -> Result<Findings> { return check_files(config_); });
  if (files) append(found_, *std::move(files));
  const auto loaded = co_await objects_.wait_loaded(deadline);
  if (!loaded && loaded.error().code() == Errc::kCancelled) co_return loaded.error();
  if (objects_.api() != nullptr) {
    MNET_CO_TRY(const auto& visit, co_await visit_api(loaded));
    append(found_, selfcheck::judge_api(visit));
  }
  auto networks = co_await fetch_networks();
  if (!networks) co_return std::move(networks).error();
  auto needs = co_await pool_.run([this, &networks]() -> Result<Findings> {
    return check_networks(config_, *std::move(networks));
  });
  if (needs) append(found_, *std::move(needs));
  if (device_needs_.empty() && kubelet == Kubelet::kIfNeeded) co_return found_;
  auto devices = co_await check_devices();
  if (!devices) co_return std::move(devices).error();
  append(found_, *std::move(devices));
  co_return found_;
}

aio::Task<void> SelfCheck::run() {
  MNET_CO_TRY(const auto& found,
              co_await look(std::chrono::steady_clock::now() + kPatience, Kubelet::kIfNeeded));
  for (const selfcheck::Finding& finding : found) {
    const std::string line = cat("self-check: ", selfcheck::line_of(finding));
    finding.severity == Severity::kNote ? log_.verbose(line) : log_.error(line);
  }
  if (found.empty()) log_.verbose("self-check: nothing found");
  co_return Result<void>();
}

std::vector<metrics::Sample> SelfCheck::samples() const {
  std::map<std::pair<std::string, std::string>, double> counts;
  for (const selfcheck::Finding& finding : found_) {
    if (finding.severity == Severity::kNote) continue;
    ++counts[{std::string(finding.check), std::string(name_of(finding.severity))}];
  }
  std::vector<metrics::Sample> all;
  all.reserve(counts.size());
  for (const auto& [what, count] : counts) {
    all.push_back({.labels = {{"check", what.first}, {"severity", what.second}}, .value = count});
  }
  return all;
}

int run_self_check(const Config& config, bool as_json) {
  aio::asio::io_context loop(1);
  aio::BlockingPool pool(1);
  const Log silent;
  Objects objects(loop.get_executor(), config, sys::environment(), pool, silent, ObjectsUse::kLook);
  if (objects.failure()) return report_bad_configuration(*objects.failure(), as_json);
  auto found = aio::run(loop, look_alone(&config, &objects, &pool));
  if (!found) return report_bad_configuration(found.error(), as_json);
  Findings all = check_configuration(config);
  append(all, *std::move(found));
  return report(all, as_json, &config);
}

int report_bad_configuration(const Error& why, bool as_json) {
  return report({does_not_start(why)}, as_json, nullptr);
}

std::string node_hint(const std::string& plugin_config) {
  const auto config = json::parse_object(plugin_config);
  return config ? selfcheck::missing_link(*config, has_link) : std::string();
}

}  // namespace mnet::daemon
