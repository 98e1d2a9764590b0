#include "daemon/status.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/kube_source.h"
#include "admission/admission.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "base/version.h"
#include "daemon/assembly.h"
#include "daemon/config.h"
#include "daemon/objects.h"
#include "json/json.h"
#include "store/store.h"
#include "sys/environment.h"
#include "sys/file.h"

namespace mnet::daemon {
namespace {

constexpr int kVersion = 1;
constexpr std::size_t kMostOfLine = 1024;
constexpr std::size_t kMostPlugins = 1000;

json::Value number(std::size_t count) { return static_cast<std::int64_t>(count); }

json::Object work_of(const admission::Admission& work) {
  return {{"running", number(work.running())}, {"waiting", number(work.waiting())}};
}

json::Value time_of(std::optional<std::chrono::system_clock::time_point> time) {
  return time ? json::Value(rfc3339_utc(*time)) : json::Value();
}

json::Object primary_of(const Assembly& assembly) {
  const Config& config = assembly.config;
  const std::string path = assembly.primary ? assembly.primary() : std::string();
  std::string why = !config.is_automatic() ? "multusConfigFile names the user's own file"
                    : !config.multus_master_cni.empty() ? "multusMasterCNI names it"
                    : path.empty()                      ? "none was found yet"
                                                        : "the first by name that is not ours";
  return {{"file", path}, {"why", std::move(why)}};
}

json::Object objects_of(const Objects& objects) {
  if (objects.failure()) return {{"from", ""}, {"lacks", objects.failure()->text()}};
  const Objects::Sizes sizes = objects.sizes();
  return {{"from", objects.name()},
          {"lacks", objects.lacks()},
          {"pods", number(sizes.pods)},
          {"definitions", number(sizes.networks)}};
}

}  // namespace

// Lines of the text format have the level in brackets after the time, those of the JSON format as a
// member.
void LastErrors::write(std::string_view line) {
  const std::string_view head = line.substr(0, 80);
  if (!head.contains("[error]") && !head.contains("\"level\":\"error\"")) return;
  const std::scoped_lock lock(mutex_);
  lines_.emplace_back(trim(line.substr(0, kMostOfLine)));
  if (lines_.size() > kMost) lines_.pop_front();
}

std::vector<std::string> LastErrors::lines() const {
  const std::scoped_lock lock(mutex_);
  return {lines_.begin(), lines_.end()};
}

std::string plugins_path(const Config& config) {
  if (!config.delegate_mount_namespace.empty()) return {};
  return cat(config.chroot_dir, config.plugin_dir());
}

Result<std::vector<std::string>> names_in(const std::string& directory) {
  if (directory.empty()) return Error(Errc::kNotFound, "its directory cannot be seen from here");
  MNET_TRY(const auto& entries, sys::list_directory(directory));
  std::vector<std::string> names;
  for (const sys::Entry& entry : entries | std::views::take(kMostPlugins)) {
    names.push_back(entry.name);
  }
  return names;
}

json::Object status_of(const Assembly& assembly) {
  const std::string why_not = assembly.readiness.why_not();
  const store::Counts& records = assembly.records.numbers();
  const adapters::KubeSource* api = assembly.objects.kube();
  return {{"version", kVersion},
          {"multus", build_version().version},
          {"commit", build_version().commit},
          {"node", sys::variable(sys::environment(), "MULTUS_NODE_NAME")},
          {"ready", why_not.empty()},
          {"reason", why_not},
          {"primary", primary_of(assembly)},
          {"objects", objects_of(assembly.objects)},
          {"requests", work_of(assembly.requests)},
          {"delegates", work_of(assembly.delegates)},
          {"containers", number(records.attachments)},
          {"pendingDels", number(assembly.pending.count())},
          {"damagedDels", number(records.bad_pending_dels)},
          {"podsWithoutNetworks", number(assembly.missed ? assembly.missed->count() : 0)},
          {"missingPlugins", json::Value(assembly.metrics.missing_plugins())},
          {"certificateEnd", time_of(assembly.metrics.certificate_expiry())},
          {"tokenEnd", time_of(api == nullptr ? std::nullopt : api->api().token_end())},
          {"lastErrors", json::Value(assembly.last_errors ? assembly.last_errors()
                                                          : std::vector<std::string>())}};
}

}  // namespace mnet::daemon
