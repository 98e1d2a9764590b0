#include "certs/pair_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/durability.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "certs/x509.h"
#include "sys/file.h"

namespace mnet::certs {
namespace {

constexpr std::size_t kMaxFile = 1u << 20;
constexpr std::size_t kKept = 2;

std::string absolute(const std::string& path) {
  std::error_code failed;
  const auto full = std::filesystem::absolute(path, failed);
  return clean_path(failed ? path : full.string());
}

enum class Kind : std::uint8_t { kNone, kLink, kOther };

Result<Kind> kind_of(const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) == 0)
    return S_ISLNK(status.st_mode) ? Kind::kLink : Kind::kOther;
  if (errno == ENOENT) return Kind::kNone;
  return Error::from_errno(errno, cat("lstat ", path));
}

Result<Kind> link_or_nothing(const std::string& path) {
  auto kind = kind_of(path);
  if (kind && *kind == Kind::kOther) {
    return Error(Errc::kConflict, cat(path, " exists and is not a symbolic link"));
  }
  return kind;
}

// `2006-01-02-15-04-05`, local time.
std::string stamp(Time now) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%d-%H-%M-%S", &parts);
  return {text.data(), length};
}

bool is_stamp(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-dd-dd-dd-dd";
  return text.size() == kForm.size() && std::ranges::equal(text, kForm, [](char byte, char form) {
           return form == 'd' ? byte >= '0' && byte <= '9' : byte == form;
         });
}

}  // namespace

PairStore::PairStore(const std::string& directory, std::string prefix)
    : directory_(absolute(directory)),
      prefix_(std::move(prefix)),
      current_(path("current")),
      updated_(path("updated")) {}

std::string PairStore::path(const std::string& qualifier) const {
  return cat(directory_, "/", prefix_, "-", qualifier, ".pem");
}

Result<void> PairStore::recover() const {
  MNET_TRY(auto&& current, link_or_nothing(current_));
  MNET_TRY(auto&& updated, link_or_nothing(updated_));
  if (current == Kind::kLink || updated == Kind::kNone) return {};
  if (::rename(updated_.c_str(), current_.c_str()) != 0) {
    return Error::from_errno(errno, cat("rename ", updated_, " ", current_));
  }
  return {};
}

bool PairStore::has_current() const { return ::access(current_.c_str(), F_OK) == 0; }

Result<std::optional<Pair>> PairStore::load() const {
  auto text = sys::find_file(current_, kMaxFile);
  if (!text) return std::move(text).error();
  std::string from = current_;
  if (!*text) {
    from = cat(directory_, "/", prefix_, ".crt");
    text = sys::find_file(from, kMaxFile);
    if (!text) return std::move(text).error();
    if (!*text) return std::optional<Pair>();
    MNET_TRY(auto&& key, sys::find_file(cat(directory_, "/", prefix_, ".key"), kMaxFile));
    if (!key) return std::optional<Pair>();
    **text += cat("\n", *key);
  }
  auto pair = parse_pair(**text);
  if (!pair) return std::move(pair).error().wrap(from);
  return std::optional<Pair>(*std::move(pair));
}

Result<void> PairStore::save(const Pair& pair, Time now) const {
  MNET_TRY_VOID(sys::make_directories(directory_, 0755));
  // First: a dated file that no link will ever lead to would be one more at each try.
  for (const std::string& link : {current_, updated_}) {
    if (auto kind = link_or_nothing(link); !kind) return std::move(kind).error();
  }
  const std::string file = path(stamp(now));
  MNET_TRY_VOID(sys::replace_file(file, pair.text(), 0600));
  MNET_TRY(auto&& read, sys::read_file(file, kMaxFile));
  if (auto loads = parse_pair(read); !loads) return std::move(loads).error().wrap(file);
  MNET_TRY_VOID(link_current(file));
  return remove_old();
}

Result<void> PairStore::link_current(const std::string& target) const {
  MNET_TRY([[maybe_unused]] const auto& current, link_or_nothing(current_));
  MNET_TRY(auto&& updated, link_or_nothing(updated_));
  if (updated == Kind::kLink && ::unlink(updated_.c_str()) != 0) {
    return Error::from_errno(errno, cat("remove ", updated_));
  }
  if (::symlink(target.c_str(), updated_.c_str()) != 0) {
    return Error::from_errno(errno, cat("symlink ", target, " ", updated_));
  }
  // Over the old link, not after removing it: a reader finds one of the two.
  if (::rename(updated_.c_str(), current_.c_str()) != 0) {
    return Error::from_errno(errno, cat("rename ", updated_, " ", current_));
  }
  return sys::sync_file(current_);
}

Result<void> PairStore::remove_old() const {
  MNET_TRY(auto&& entries, sys::list_directory(directory_));
  const std::string begin = prefix_ + "-";
  constexpr std::string_view kEnd = ".pem";
  std::vector<std::string> dated;  // the oldest first: names are sorted, and dates sort as time
  for (const sys::Entry& entry : entries) {
    const std::string& name = entry.name;
    if (entry.kind != sys::EntryKind::kRegular || !name.starts_with(begin) ||
        !name.ends_with(kEnd)) {
      continue;
    }
    const std::size_t length = name.size() - begin.size() - kEnd.size();
    if (is_stamp(std::string_view(name).substr(begin.size(), length))) dated.push_back(name);
  }
  std::error_code unread;
  const std::string in_use = std::filesystem::read_symlink(current_, unread).filename().string();
  // A clock that was set back makes the newest file not the last one.
  std::erase(dated, in_use);
  while (dated.size() > kKept - 1) {
    MNET_TRY([[maybe_unused]] const auto& removed,
             sys::remove_file(cat(directory_, "/", dated.front()), Durability::kInPlace));
    dated.erase(dated.begin());
  }
  return {};
}

}  // namespace mnet::certs
