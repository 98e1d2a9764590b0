#include "manifests/status.h"

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "base/dns_name.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/at.h"
#include "json/json.h"
#include "manifests/objects.h"
#include "model/objects.h"
#include "sys/file.h"

namespace mnet::manifests {
namespace {

// Checked here, where they become a path.
Result<std::string> directory_for(const std::string& directory, const PodRef& pod) {
  if (!is_dns_label(pod.ns)) {
    return Error(Errc::kInvalid, cat("namespace ", go_quoted(pod.ns), " is not a DNS label"));
  }
  if (!is_dns_subdomain(pod.name)) {
    return Error(Errc::kInvalid, cat("pod name ", go_quoted(pod.name), " is not a DNS subdomain"));
  }
  return cat(directory, "/", pod.ns);
}

std::string text_of(const PodRef& pod, const std::string& network_status) {
  json::Object metadata{{"namespace", pod.ns}, {"name", pod.name}};
  if (!pod.uid.empty()) metadata.set("uid", pod.uid);
  metadata.set("annotations",
               json::Object{{std::string(model::kNetworkStatusAnnotation), network_status}});
  const json::Object object{{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata}};
  return cat(json::dump(object, json::kPretty), "\n");
}

// `parent` must be there: a folder that is not mounted yet must not be filled beneath the mount
// point.
Result<void> write_file(const std::string& base, const std::string& parent, const PodRef& pod,
                        const std::string& network_status) {
  MNET_TRY(auto&& directory, directory_for(base, pod));
  std::error_code ignored;
  if (!std::filesystem::is_directory(parent, ignored)) {
    return Error(Errc::kNotFound, cat("objects folder ", parent, " is missing"));
  }
  MNET_TRY_VOID(sys::make_directories(directory, 0755));
  return sys::replace_file(cat(directory, "/", pod.name, ".json"), text_of(pod, network_status),
                           0644);
}

json::Object object_in(const json::Object& object, std::string_view key) {
  const json::Object* inner = json::as_object(object.find(key));
  return inner == nullptr ? json::Object() : *inner;
}

// The metadata of the file; empty if it is none of ours.
json::Object metadata_in(const std::string& text) {
  const auto value = json::parse_object(text);
  return value ? object_in(*value, "metadata") : json::Object();
}

bool is_of_another(const json::Object& metadata, const PodRef& pod) {
  const std::string uid = json::text_at(metadata, {"uid"});
  return !uid.empty() && !pod.uid.empty() && uid != pod.uid;
}

Result<std::optional<std::string>> find_in_file(const std::string& base, const PodRef& pod) {
  MNET_TRY(auto&& directory, directory_for(base, pod));
  const std::string path = cat(directory, "/", pod.name, ".json");
  MNET_TRY(auto&& text, sys::find_file(path));
  const std::optional<std::string>& found = text;
  if (!found) return std::optional<std::string>();
  const json::Object metadata = metadata_in(*found);
  if (is_of_another(metadata, pod)) return std::optional<std::string>();
  const json::Object annotations = object_in(metadata, "annotations");
  const json::Value* status = annotations.find(model::kNetworkStatusAnnotation);
  if (status == nullptr || status->as_string() == nullptr) {
    return Error(Errc::kProtocol, cat(path, " does not hold a network status"));
  }
  return std::optional<std::string>(*status->as_string());
}

Result<void> remove_file(const std::string& base, const PodRef& pod) {
  MNET_TRY(auto&& directory, directory_for(base, pod));
  const std::string path = cat(directory, "/", pod.name, ".json");
  MNET_TRY(auto&& text, sys::find_file(path));
  const std::optional<std::string>& found = text;
  if (!found) return {};
  if (is_of_another(metadata_in(*found), pod)) return {};
  MNET_TRY([[maybe_unused]] const auto& removed, sys::remove_file(path));
  return {};
}

// None if there is no such directory.
Result<std::vector<sys::Entry>> entries_of(const std::string& directory) {
  auto entries = sys::list_directory(directory);
  if (!entries && entries.error().code() == Errc::kNotFound) return std::vector<sys::Entry>();
  return entries;
}

Result<std::vector<PodRef>> list_pods(const std::string& base) {
  constexpr std::string_view kEnding = ".json";
  std::vector<PodRef> pods;
  MNET_TRY(const auto& namespaces, entries_of(base));
  for (const sys::Entry& ns : namespaces) {
    if (ns.kind != sys::EntryKind::kDirectory) continue;
    MNET_TRY(const auto& files, entries_of(cat(base, "/", ns.name)));
    for (const sys::Entry& file : files) {
      if (!file.name.ends_with(kEnding)) continue;
      PodRef pod{.ns = ns.name, .name = file.name.substr(0, file.name.size() - kEnding.size())};
      const auto status = find_in_file(base, pod);
      if (status && *status) pods.push_back(std::move(pod));
    }
  }
  return pods;
}

}  // namespace

StatusFiles::StatusFiles(const std::string& folder, aio::BlockingPool& pool, Log log,
                         std::string elsewhere)
    : folder_(clean_path(folder)),
      pool_(pool),
      log_(std::move(log)),
      elsewhere_(std::move(elsewhere)) {}

aio::Task<void> StatusFiles::write(PodRef pod, std::string network_status) {
  auto written = co_await pool_.run([folder = folder_, pod, network_status] {
    return write_file(cat(folder, "/status"), folder, pod, network_status);
  });
  if (written || elsewhere_.empty() || written.error().os_errno() != EROFS) co_return written;
  if (!std::exchange(is_elsewhere_, true)) {
    log_.warning(cat("objects folder ", folder_, " is read-only: the status of pods is written to ",
                     elsewhere_));
  }
  co_return co_await pool_.run([elsewhere = elsewhere_, pod = std::move(pod),
                                network_status = std::move(network_status)]() -> Result<void> {
    MNET_TRY_VOID(sys::make_directories(elsewhere, 0700));
    return write_file(elsewhere, elsewhere, pod, network_status);
  });
}

aio::Task<std::optional<std::string>> StatusFiles::find(PodRef pod) {
  return pool_.run([folder = folder_, elsewhere = elsewhere_,
                    pod = std::move(pod)]() -> Result<std::optional<std::string>> {
    MNET_TRY(auto&& found, find_in_file(cat(folder, "/status"), pod));
    if (found || elsewhere.empty()) return std::move(found);
    return find_in_file(elsewhere, pod);
  });
}

aio::Task<void> StatusFiles::remove(PodRef pod) {
  return pool_.run(
      [folder = folder_, elsewhere = elsewhere_, pod = std::move(pod)]() -> Result<void> {
        auto removed = remove_file(cat(folder, "/status"), pod);
        if (!elsewhere.empty()) {
          MNET_TRY_VOID(remove_file(elsewhere, pod));
        }
        return removed;
      });
}

aio::Task<std::vector<PodRef>> StatusFiles::list() {
  return pool_.run([folder = folder_] { return list_pods(cat(folder, "/status")); });
}

}  // namespace mnet::manifests
