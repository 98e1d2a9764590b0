#include "nodeconf/own_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "sys/fd.h"
#include "sys/file.h"

namespace mnet::nodeconf {
namespace {

bool has_text(const json::Object& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value != nullptr && value->as_string() != nullptr && !value->as_string()->empty();
}

// What a runtime asks of a file before it takes it: containerd refuses the whole directory for one
// bad file, and the node is not ready then (06, pain 10). A list has plugins instead of a type.
Result<void> check(std::string_view text) {
  MNET_TRY(const auto& object, json::parse_object(text));
  const bool has_plugin = has_text(object, "type") || object.find("plugins") != nullptr;
  if (has_plugin && has_text(object, "name")) return {};
  return Error(Errc::kInvalid, "it needs a name, and a type or plugins");
}

}  // namespace

std::optional<FileMark> mark_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  constexpr std::int64_t kSecond = 1'000'000'000;
  return FileMark{.device = status.st_dev,
                  .inode = status.st_ino,
                  .size = status.st_size,
                  .changed_ns = status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec};
}

Result<void> OwnFile::write(std::string_view text) {
  if (auto good = check(text); !good)
    return std::move(good).error().wrap(cat("not written to ", path_));
  MNET_TRY_VOID(sys::replace_file(path_, text, 0600));
  written_ = sys::UniqueFd(::open(path_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  return {};
}

Result<bool> OwnFile::update(std::string_view text) {
  const auto there = sys::find_file(path_);
  if (there && *there && **there == text && is_ours(path_)) return false;
  MNET_TRY_VOID(write(text));
  return true;
}

bool OwnFile::is_ours(const std::string& path) const {
  struct stat ours{}, there{};
  if (!written_ || ::fstat(written_.get(), &ours) != 0) return false;
  return ::lstat(path.c_str(), &there) == 0 && there.st_dev == ours.st_dev &&
         there.st_ino == ours.st_ino;
}

OwnFile::State OwnFile::state() const {
  const auto text = sys::find_file(path_);
  if (text && *text) return {.fate = check(**text) ? Fate::kThere : Fate::kBroken};
  if (!text) return {.fate = Fate::kBroken};
  const std::string directory = sys::directory_of(path_);
  const auto entries = sys::list_directory(directory);
  if (!entries) return {.fate = Fate::kRemoved};
  for (const sys::Entry& entry : *entries) {
    if (is_ours(cat(directory, "/", entry.name))) {
      return {.fate = Fate::kRenamed, .other_name = entry.name};
    }
  }
  return {.fate = Fate::kRemoved};
}

Result<bool> OwnFile::remove_if_ours() {
  if (!is_ours(path_)) return false;
  return sys::remove_file(path_);
}

}  // namespace mnet::nodeconf
