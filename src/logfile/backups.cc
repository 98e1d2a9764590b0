#include "logfile/backups.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/durability.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "logfile/gzip.h"
#include "logfile/rotation.h"
#include "sys/file.h"

namespace mnet::logfile {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kStampForm = "dddd-dd-ddTdd-dd-dd.ddd";  // d: a digit

std::string digits(long value, std::size_t width) {
  std::string text = cat(value);
  if (text.size() < width) text.insert(0, width - text.size(), '0');
  return text;
}

std::string stamp_of(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<milliseconds>(time - day));
  return cat(digits(int{date.year()}, 4), '-', digits(unsigned{date.month()}, 2), '-',
             digits(unsigned{date.day()}, 2), 'T', digits(clock.hours().count(), 2), '-',
             digits(clock.minutes().count(), 2), '-', digits(clock.seconds().count(), 2), '.',
             digits(clock.subseconds().count(), 3));
}

bool is_stamp(std::string_view text) {
  return std::ranges::equal(text, kStampForm, [](char c, char form) {
    return form == 'd' ? std::isdigit(static_cast<unsigned char>(c)) != 0 : c == form;
  });
}

std::optional<Time> time_of_stamp(std::string_view text) {
  if (!is_stamp(text)) return std::nullopt;
  const auto number = [text](std::size_t at, std::size_t width) {
    int value = 0;
    for (const char c : text.substr(at, width)) value = value * 10 + (c - '0');
    return value;
  };
  const std::chrono::year_month_day date(std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2))));
  if (!date.ok() || number(11, 2) > 23 || number(14, 2) > 59 || number(17, 2) > 59) {
    return std::nullopt;
  }
  return Time(std::chrono::sys_days(date)) + std::chrono::hours(number(11, 2)) +
         std::chrono::minutes(number(14, 2)) + std::chrono::seconds(number(17, 2)) +
         milliseconds(number(20, 3));
}

bool is_taken(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0;
}

// The files of one backup: a crash while compressing leaves both the plain and the compressed file,
// which count as one.
using Backups = std::map<Time, std::vector<std::string>, std::greater<>>;

Result<Backups> list_backups(const BackupNames& names) {
  auto entries = sys::list_directory(names.directory());
  if (!entries && sys::is_missing(entries.error())) return Backups();
  if (!entries) return std::move(entries).error();
  Backups backups;
  for (const sys::Entry& entry : *entries) {
    if (entry.kind != sys::EntryKind::kRegular) continue;
    const auto time = names.time_of(entry.name);
    if (time) backups[*time].push_back(cat(names.directory(), "/", entry.name));
  }
  return backups;
}

Result<void> remove_all(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    MNET_TRY([[maybe_unused]] const auto& removed, sys::remove_file(path, Durability::kInPlace));
  }
  return {};
}

Result<void> compress_all(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (path.ends_with(kGzipSuffix)) continue;
    MNET_TRY_VOID(compress_file(path));
  }
  return {};
}

}  // namespace

BackupNames::BackupNames(const std::string& log_path) : directory_(sys::directory_of(log_path)) {
  const std::size_t slash = log_path.rfind('/');
  base_ = slash == std::string::npos ? log_path : log_path.substr(slash + 1);
  const std::size_t dot = base_.rfind('.');
  if (dot == std::string::npos) return;
  extension_ = base_.substr(dot);
  base_.resize(dot);
}

std::string BackupNames::name_at(Time time) const {
  return cat(base_, '-', stamp_of(time), extension_);
}

std::optional<Time> BackupNames::time_of(std::string_view name) const {
  const std::string prefix = cat(base_, '-');
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  for (const std::string& suffix : {extension_, cat(extension_, kGzipSuffix)}) {
    if (!name.ends_with(suffix)) continue;
    const auto time = time_of_stamp(name.substr(0, name.size() - suffix.size()));
    if (time) return time;
  }
  return std::nullopt;
}

std::string BackupNames::free_path(Time time) const {
  for (;; time += milliseconds(1)) {
    std::string path = cat(directory_, "/", name_at(time));
    if (!is_taken(path) && !is_taken(cat(path, kGzipSuffix))) return path;
  }
}

Result<void> tidy(const BackupNames& names, const Rotation& rotation, Time now) {
  MNET_TRY(auto&& backups, list_backups(names));

  Result<void> outcome;
  std::size_t kept = 0;
  for (const auto& [time, paths] : backups) {  // newest first
    const bool too_many = rotation.max_backups != 0 && kept >= rotation.max_backups;
    const bool too_old = rotation.max_age.count() != 0 && time < now - rotation.max_age;
    Result<void> done;
    if (too_many || too_old) {
      done = remove_all(paths);
    } else {
      ++kept;
      if (rotation.compress) done = compress_all(paths);
    }
    if (!done && outcome) outcome = std::move(done);
  }
  return outcome;
}

}  // namespace mnet::logfile
