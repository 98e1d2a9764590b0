#include "adapters/device_info_files.h"

#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/device_info.h"
#include "json/json.h"
#include "sys/file.h"

namespace mnet::adapters {
namespace {

constexpr std::string_view kDevicePluginFiles = "/var/run/k8s.cni.cncf.io/devinfo/dp/";
constexpr mode_t kDirectoryMode = 0755;
constexpr mode_t kFileMode = 0444;
constexpr std::size_t kMaxBytes = 1u << 20;

// Our image may lack the link from /var/run to /run, while /var/run is there for other things.
Result<std::string> located(const std::string& root, const std::string& path) {
  if (!path.starts_with('/') || path.contains('\0')) {
    return Error(Errc::kInvalid, cat("not a path of a device-info file: ", go_quoted(path)));
  }
  constexpr std::string_view kVarRun = "/var/run/";
  if (!path.starts_with(kVarRun)) return cat(root, path);
  const std::string rest = path.substr(kVarRun.size());
  const std::string top = rest.substr(0, rest.find('/'));
  const bool only_below_run =
      !sys::exists(cat(root, kVarRun, top)) && sys::exists(cat(root, "/run/", top));
  return only_below_run ? cat(root, "/run/", rest) : cat(root, path);
}

std::string device_plugin_file(const std::string& resource_name, const std::string& device_id) {
  std::string name = cat(resource_name, "-", device_id, "-device.json");
  std::ranges::replace(name, '/', '-');
  return cat(kDevicePluginFiles, name);
}

Result<std::optional<json::Object>> load(const std::string& root, const std::string& path) {
  MNET_TRY(auto&& place, located(root, path));
  // Following a link would show its target in the pod's status.
  std::error_code ignored;
  if (std::filesystem::is_symlink(place, ignored)) {
    return Error(Errc::kDenied, cat(place, " is a symbolic link, which is not followed"));
  }
  MNET_TRY(auto&& text, sys::find_file(place, kMaxBytes));
  if (!text) return std::nullopt;
  auto info = cni::parse_device_info(*text);
  if (!info) return std::move(info).error().wrap(place);
  return *std::move(info);
}

Result<void> save(const std::string& root, const std::string& path, const json::Object& info) {
  MNET_TRY(auto&& place, located(root, path));
  const std::string directory = sys::directory_of(place);
  MNET_TRY_VOID(sys::make_directories(directory, kDirectoryMode));
  // Temporary files of a killed predecessor; they can also be swept the next time.
  (void)sys::sweep_temporaries(directory, sys::kTemporaryAge);
  return sys::replace_file(place, json::dump(info), kFileMode);
}

Result<void> erase(const std::string& root, const std::string& path) {
  MNET_TRY(auto&& place, located(root, path));
  auto removed = sys::remove_file(place);
  if (!removed && removed.error().os_errno() != ENOTDIR) return std::move(removed).error();
  return {};
}

Result<void> copy_file(const std::string& root, const std::string& from, const std::string& to) {
  auto info = load(root, from);
  if (info && *info) return save(root, to, **info);
  MNET_TRY_VOID(erase(root, to));
  if (!info) return std::move(info).error();
  return {};
}

}  // namespace

aio::Task<void> DeviceInfoFiles::copy(std::string resource_name, std::string device_id,
                                      std::string path) {
  return pool_.run([root = root_, from = device_plugin_file(resource_name, device_id),
                    to = std::move(path)] { return copy_file(root, from, to); });
}

aio::Task<std::optional<json::Object>> DeviceInfoFiles::find(std::string path) {
  return pool_.run([root = root_, path = std::move(path)] { return load(root, path); });
}

aio::Task<void> DeviceInfoFiles::remove(std::string path) {
  return pool_.run([root = root_, path = std::move(path)] { return erase(root, path); });
}

}  // namespace mnet::adapters
