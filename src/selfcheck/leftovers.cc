#include "selfcheck/leftovers.h"

#include <sys/stat.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "selfcheck/finding.h"
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

// For all networks together; further files are not looked at.
constexpr std::size_t kMostAddresses = 10'000;
constexpr std::size_t kMostOfAddress = 1024;

// host-local makes the file, and then writes its container into it.
constexpr std::chrono::minutes kLongEmpty{1};

// The container that has an address: the first line of host-local's file. None if it cannot be
// read.
std::optional<std::string> holder_of(const std::string& path) {
  const auto text = sys::read_file(path, kMostOfAddress);
  if (!text) return std::nullopt;
  return std::string(trim(std::string_view(*text).substr(0, text->find('\n'))));
}

// Addresses of one network that nothing frees, and one of them.
struct Lost {
  std::size_t count = 0;
  std::string example;
  void add(std::string_view one) {
    if (count++ == 0) example = one;
  }
};

Finding without_record(const Lost& lost, const std::string& directory) {
  return {.severity = Severity::kWarning,
          .check = kLeftovers,
          .what = cat(lost.count, " addresses in ", directory,
                      " belong to containers without a record, such as ", lost.example),
          .why =
              "Unless a program other than Multus runs host-local here, nothing frees them, and "
              "the network runs out of addresses",
          .advice =
              "Remove the files of containers that the runtime does not have (containerd: "
              "`ctr -n k8s.io containers list -q`)"};
}

Finding without_container(const Lost& lost, const std::string& directory) {
  return {.severity = Severity::kWarning,
          .check = kLeftovers,
          .what = cat(lost.count, " addresses in ", directory, " belong to no container, such as ",
                      lost.example, ": host-local was killed while it took them"),
          .why = "No DEL finds them, and the network runs out of addresses",
          .advice = "Remove these empty files"};
}

// Containers that have any record. None if that is not known: an error is not an
// absence.
std::optional<std::set<std::string>> recorded_containers(const std::string& cni_dir) {
  std::set<std::string> known;
  const auto results = store::ResultCache(cni_dir).list_all();
  if (!results || !results->unreadable.empty()) return std::nullopt;
  for (const auto& one : results->containers) known.insert(one.container_id);
  const auto scratch = store::ScratchFiles(cni_dir).list();
  const auto records = store::AttachmentRecords(cni_dir).list();
  if (!scratch || !records) return std::nullopt;
  known.insert(scratch->begin(), scratch->end());
  known.insert(records->begin(), records->end());
  return known;
}

std::vector<std::string> names_in(const std::string& directory, sys::EntryKind kind) {
  std::vector<std::string> names;
  const auto entries = sys::list_directory(directory);
  if (!entries) return names;
  for (const sys::Entry& entry : *entries) {
    if (entry.kind == kind) names.push_back(entry.name);
  }
  return names;
}

}  // namespace

Findings check_addresses(const std::string& ipam_dir, const std::string& cni_dir,
                         std::chrono::system_clock::time_point now) {
  Findings found;
  std::size_t looked_at = 0;
  for (const std::string& network : names_in(ipam_dir, sys::EntryKind::kDirectory)) {
    const std::string directory = cat(ipam_dir, "/", network);
    Lost unrecorded, empty;
    std::optional<std::set<std::string>> known;  // read after the names: a record comes first
    for (const std::string& name : names_in(directory, sys::EntryKind::kRegular)) {
      if (name == "lock" || name.starts_with("last_reserved_ip")) continue;
      if (++looked_at > kMostAddresses) break;
      const std::string path = cat(directory, "/", name);
      const auto holder = holder_of(path);
      if (!holder) continue;
      if (holder->empty()) {
        if (is_older(path, now - kLongEmpty)) empty.add(name);
        continue;
      }
      if (!known) known = recorded_containers(cni_dir);
      if (!known) return {};
      if (!known->contains(*holder)) unrecorded.add(cat(name, " of container ", excerpt(*holder)));
    }
    if (unrecorded.count > 0) found.push_back(without_record(unrecorded, directory));
    if (empty.count > 0) found.push_back(without_container(empty, directory));
  }
  return found;
}

Findings check_leftovers(const std::string& cni_dir, std::chrono::system_clock::time_point now) {
  Findings found;
  const std::string pending = store::pending_del_directory(cni_dir);
  if (const std::size_t old = count_old(pending, now - kLongPending); old > 0) {
    found.push_back({.severity = Severity::kWarning,
                     .check = kLeftovers,
                     .what = cat(old, " pending DELs in ", pending, " are older than ",
                                 kLongPending.count(), " minutes"),
                     .why = "The addresses and devices of these pods are still taken",
                     .advice = "`multusctl pending` shows why they fail"});
  }
  const auto counts = store::count_files(cni_dir);
  if (counts && counts->bad_pending_dels > 0) {
    found.push_back(
        {.severity = Severity::kWarning,
         .check = kLeftovers,
         .what = cat(counts->bad_pending_dels, " damaged DELs are in ", pending, "/bad"),
         .why = "Addresses and devices of these containers may still be taken",
         .advice = "Free them by hand, then remove the files"});
  }
  return found;
}

}  // namespace mnet::selfcheck
