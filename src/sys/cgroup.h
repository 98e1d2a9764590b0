// Memory of our own control group, version 1 or 2: its limit, and what the kernel killed for it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

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

}  // namespace mnet::sys
