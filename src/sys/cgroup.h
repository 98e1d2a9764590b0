// Memory of our own control group, version 1 or 2: its limit, what the kernel killed for it, and a
// group below it for the processes that we start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "sys/fd.h"

namespace mnet::sys {

// Where the kernel shows control groups; tests use another place.
struct CgroupFiles {
  std::string membership = "/proc/self/cgroup";
  std::string mount = "/sys/fs/cgroup";
};

// In bytes: the smallest limit of our group and of those above it, as far as they are visible from
// here. None if there is no limit, or none can be read.
std::optional<std::uint64_t> memory_limit(const CgroupFiles& files = {});

// How many processes of our group the kernel has killed so far because memory ran out. None if that
// cannot be read.
std::optional<std::uint64_t> oom_kills(const CgroupFiles& files = {});

// Whether the kernel kills all processes of our group when one is to go because memory ran out
// (memory.oom.group of version 2; the kubelet sets it for every container since Kubernetes 1.28).
bool is_killed_as_one(const CgroupFiles& files = {});
// From now on it kills one at a time. False if it did so already.
Result<bool> be_killed_one_by_one(const CgroupFiles& files = {});

// A group below ours (version 2) for processes that we start. It may take what our memory limit
// leaves above a part that is ours, so that the kernel frees memory, and kills, among them.
class ChildGroup {
 public:
  // A group that hands controllers down has no processes of its own: ours moves into another one
  // below it. Only where the group has the memory controller, a limit, and no process but ours; an
  // error says what is missing, and then everything is as it was.
  static Result<ChildGroup> make(std::uint64_t kept, const CgroupFiles& files = {});

  int fd() const { return fd_.get(); }  // for Program::control_group
  // As oom_kills(), of this group.
  std::optional<std::uint64_t> oom_kills() const;

 private:
  ChildGroup(UniqueFd fd, std::string folder) : fd_(std::move(fd)), folder_(std::move(folder)) {}
  UniqueFd fd_;
  std::string folder_;
};

}  // namespace mnet::sys
