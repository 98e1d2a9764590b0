#include "store/pending_dels.h"

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/durability.h"
#include "base/error.h"
#include "base/error_list.h"
#include "base/failpoint.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/error.h"
#include "store/own_files.h"
#include "store/store.h"
#include "sys/file.h"

namespace mnet::store {
namespace {

constexpr mode_t kDirectoryMode = 0700;
constexpr int kMostOfOneName = 10;

// A name of a record: of a file of the directory itself, and not one that is being written.
bool is_record(std::string_view file) {
  return file.ends_with(".json") && !file.starts_with('.') &&
         file.find('/') == std::string_view::npos;
}

Error no_record(std::string_view file) {
  return Error(Errc::kInvalid, cat("not the name of a pending DEL's file: ", go_quoted(file)));
}

// None if the file is gone by now.
std::optional<PendingDels::Record> find_record(const std::string& directory,
                                               const std::string& file) {
  const std::string path = cat(directory, "/", file);
  auto body = find_text(path);
  if (!body) return PendingDels::Record{file, std::move(body).error(), written_at(path)};
  if (!*body) return std::nullopt;
  return PendingDels::Record{file, **std::move(body), written_at(path)};
}

}  // namespace

std::string pending_del_directory(std::string_view cni_dir) {
  return cat(cni_dir, "/", kPendingDels);
}

std::string pending_del_file(std::string_view container_id, std::string_view ifname) {
  return cat(container_id, "-", ifname, ".json");
}

PendingDels::PendingDels(const std::string& cni_dir) : directory_(pending_del_directory(cni_dir)) {}

Result<std::vector<std::string>> PendingDels::list_files() const {
  MNET_TRY(const auto& entries, list_entries(directory_));
  std::vector<std::string> files;
  for (const sys::Entry& entry : entries) {
    if (is_record(entry.name)) files.push_back(entry.name);
  }
  return files;
}

Result<std::vector<std::string>> PendingDels::list_set_aside() const {
  MNET_TRY(auto&& entries, list_entries(cat(directory_, "/", kBad)));
  std::vector<std::string> files;
  for (sys::Entry& entry : entries) files.push_back(std::move(entry.name));
  return files;
}

Result<std::vector<PendingDels::Listed>> PendingDels::list() const {
  MNET_TRY(auto&& files, list_files());
  std::vector<Listed> listed;
  for (std::string& file : files) {
    const auto written = written_at(cat(directory_, "/", file));
    listed.push_back({std::move(file), written});
  }
  return listed;
}

Result<std::optional<PendingDels::Record>> PendingDels::read(const std::string& file) const {
  if (!is_record(file)) return std::nullopt;
  return find_record(directory_, file);
}

Result<std::optional<PendingDels::Record>> PendingDels::find(const std::string& container_id,
                                                             const std::string& ifname) const {
  return read(pending_del_file(container_id, ifname));
}

Result<std::string> PendingDels::write(const std::string& container_id, const std::string& ifname,
                                       std::string_view body) const {
  const std::string file = pending_del_file(container_id, ifname);
  if (!is_record(file)) return no_record(file);
  std::string path = cat(directory_, "/", file);
  MNET_TRY_VOID(replace_below(directory_, path, body, Durability::kDurable));
  return path;
}

Result<bool> PendingDels::keep(const std::string& container_id, const std::string& ifname,
                               std::string_view body) const {
  MNET_TRY(const auto& found, find(container_id, ifname));
  // One from the future, by a clock that was set back, would keep its age for ever.
  const bool is_kept = found && found->body && *found->body == body &&
                       found->written <= std::chrono::system_clock::now();
  if (is_kept) return false;
  MNET_TRY([[maybe_unused]] const auto& path, write(container_id, ifname, body));
  return true;
}

Result<bool> PendingDels::remove(const std::string& file) const {
  if (!is_record(file)) return no_record(file);
  MNET_FAIL_BLOCKING("pending-before-remove");
  auto removed = sys::remove_file(cat(directory_, "/", file));
  MNET_FAIL_BLOCKING("pending-after-remove");
  return removed;
}

Result<void> PendingDels::set_aside(const std::string& file) const {
  if (!is_record(file)) return no_record(file);
  const std::string bad = cat(directory_, "/", kBad);
  MNET_TRY_VOID(sys::make_directories(bad, kDirectoryMode));
  std::string target = cat(bad, "/", file);
  std::error_code failed;
  const auto is_taken = [&failed](const std::string& path) {
    return std::filesystem::exists(std::filesystem::symlink_status(path, failed));
  };
  for (int i = 1; i < kMostOfOneName && is_taken(target); ++i) {
    target = cat(bad, "/", file, ".", i);
  }
  MNET_FAIL_BLOCKING("pending-before-set-aside");
  std::filesystem::rename(cat(directory_, "/", file), target, failed);
  if (failed) return Error::from_errno(failed.value(), cat("rename ", file, " to ", target));
  MNET_FAIL_BLOCKING("pending-after-set-aside");
  return {};
}

Error pending_in_the_way(const Error& why) {
  return cni::coded(cni::Code::kTryAgainLater,
                    cat("an older DEL of this container is pending, and its record cannot be read "
                        "or removed now: ",
                        why.text(), "; try again later"));
}

Result<void> sweep(const std::string& cni_dir, long age_seconds) {
  ErrorList errors;
  for (const std::string& directory :
       {cni_dir, cat(cni_dir, "/results"), pending_del_directory(cni_dir),
        cat(cni_dir, "/", kAttachments)}) {
    errors.add(sys::sweep_temporaries(directory, age_seconds));
  }
  return errors.join("; ");
}

}  // namespace mnet::store
