#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/durability.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/count.h"
#include "json/json.h"
#include "store/own_files.h"
#include "store/store.h"
#include "sys/file.h"

namespace mnet::store {
namespace {

constexpr std::string_view kSuffix = ".json";

// The container id in the name of a record; empty if it is not such a name.
std::string id_in(std::string_view file) {
  if (!file.ends_with(kSuffix)) return {};
  file.remove_suffix(kSuffix.size());
  return is_safe_id(file) ? std::string(file) : std::string();
}

}  // namespace

AttachmentRecords::AttachmentRecords(const std::string& cni_dir)
    : directory_(cat(cni_dir, "/", kAttachments)) {}

std::optional<std::string> AttachmentRecords::path_of(const std::string& container_id) const {
  if (!is_safe_id(container_id)) return std::nullopt;
  return cat(directory_, "/", container_id, kSuffix);
}

Result<void> AttachmentRecords::write(const std::string& container_id, const json::Object& record,
                                      Durability durability) const {
  const auto path = path_of(container_id);
  if (!path) return unsafe_id_error(container_id);
  MNET_FAIL_BLOCKING("record-before-write");
  MNET_TRY_VOID(replace_below(directory_, *path, json::dump(record), durability));
  MNET_FAIL_BLOCKING("record-after-write");
  return {};
}

bool AttachmentRecords::has(const std::string& container_id) const {
  const auto path = path_of(container_id);
  return path && may_exist(*path);
}

Result<std::optional<json::Object>> AttachmentRecords::find(const std::string& container_id) const {
  const auto path = path_of(container_id);
  if (!path) return std::nullopt;
  MNET_TRY(auto&& text, find_text(*path));
  if (!text) return std::nullopt;
  auto record = json::parse_object(*text);
  if (!record) return Error(Errc::kProtocol, cat(*path, ": ", record.error().text()));
  return *std::move(record);
}

json::Count AttachmentRecords::count(const std::string& container_id) const {
  const auto path = path_of(container_id);
  const auto text = path ? find_text(*path) : std::nullopt;
  return text && *text ? json::count(**text) : json::Count();
}

Result<bool> AttachmentRecords::remove(const std::string& container_id,
                                       Durability durability) const {
  const auto path = path_of(container_id);
  if (!path) return false;
  MNET_FAIL_BLOCKING("record-before-remove");
  auto removed = sys::remove_file(*path, durability);
  MNET_FAIL_BLOCKING("record-after-remove");
  return removed;
}

Result<std::vector<std::string>> AttachmentRecords::list() const {
  MNET_TRY(const auto& entries, list_entries(directory_));
  std::vector<std::string> ids;
  for (const sys::Entry& entry : entries) {
    if (entry.kind != sys::EntryKind::kRegular) continue;
    if (std::string id = id_in(entry.name); !id.empty()) ids.push_back(std::move(id));
  }
  return ids;
}

// The kernel tells times of changes to some milliseconds, and gives the number of a file that is
// gone to another one.
std::optional<std::string> AttachmentRecords::stamp(const std::string& container_id) const {
  constexpr std::chrono::seconds kSettled{2};
  const auto path = path_of(container_id);
  struct stat status{};
  if (!path || ::stat(path->c_str(), &status) != 0) return std::nullopt;
  const auto changed = std::chrono::system_clock::from_time_t(status.st_ctim.tv_sec);
  const auto age = std::chrono::system_clock::now() - changed;
  if (age < kSettled) return std::nullopt;
  return cat(status.st_ino, ":", status.st_size, ":", status.st_ctim.tv_sec, ".",
             status.st_ctim.tv_nsec);
}

Result<std::vector<std::string>> AttachmentRecords::list_oldest_first() const {
  MNET_TRY(auto&& ids, list());
  std::vector<std::pair<std::chrono::system_clock::time_point, std::string>> by_age;
  by_age.reserve(ids.size());
  for (std::string& id : ids) by_age.emplace_back(written_at(*path_of(id)), std::move(id));
  std::ranges::sort(by_age);
  std::vector<std::string> sorted;
  sorted.reserve(by_age.size());
  for (auto& [written, id] : by_age) sorted.push_back(std::move(id));
  return sorted;
}

Result<void> AttachmentRecords::sync(const std::string& container_id) const {
  const auto path = path_of(container_id);
  if (!path) return {};
  return sys::sync_file(*path);
}

}  // namespace mnet::store
