#include "selfcheck/leftovers.h"

#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <string>

#include "base/text.h"
#include "store/pending_dels.h"
#include "store/store.h"
#include "sys/file.h"

namespace mnet::selfcheck {
namespace {

// A daemon that starts replays them within seconds.
constexpr std::chrono::minutes kLongPending{10};

bool is_older(const std::string& path, std::chrono::system_clock::time_point than) {
  struct stat seen{};
  if (::lstat(path.c_str(), &seen) != 0) return false;
  return std::chrono::system_clock::from_time_t(seen.st_mtime) < than;
}

std::size_t count_old(const std::string& directory, std::chrono::system_clock::time_point than) {
  const auto entries = sys::list_directory(directory);
  if (!entries) return 0;
  std::size_t count = 0;
  for (const sys::Entry& entry : *entries) {
    if (entry.kind == sys::EntryKind::kDirectory || entry.name.starts_with('.')) continue;
    if (is_older(cat(directory, "/", entry.name), than)) ++count;
  }
  return count;
}

}  // namespace

Findings check_leftovers(const std::string& cni_dir, std::chrono::system_clock::time_point now) {
  Findings found;
  const std::string pending = store::pending_del_directory(cni_dir);
  if (const std::size_t old = count_old(pending, now - kLongPending); old > 0) {
    found.push_back({.severity = Severity::kWarning,
                     .check = kLeftovers,
                     .what = cat(old, " pending DELs in ", pending, " are older than ",
                                 kLongPending.count(), " minutes"),
                     .why = "The addresses and devices of these pods are still taken",
                     .advice = "Look for their reason in the log of the daemon"});
  }
  const auto counts = store::count_files(cni_dir);
  if (counts && counts->bad_pending_dels > 0) {
    found.push_back(
        {.severity = Severity::kWarning,
         .check = kLeftovers,
         .what = cat(counts->bad_pending_dels, " damaged DELs lie in ", pending, "/bad"),
         .why = "Addresses and devices of these containers may still be taken",
         .advice = "Free them by hand, then remove the files"});
  }
  return found;
}

}  // namespace mnet::selfcheck
