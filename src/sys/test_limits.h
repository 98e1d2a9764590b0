// Calls that fail although nothing is wrong with what they are for. For tests only.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>

#include <cstddef>
#include <vector>

#include "sys/fd.h"

namespace mnet::sys {

// Can be opened; reading it fails with EIO, because nothing is mapped at address 0.
inline constexpr const char* kFileThatFailsToRead = "/proc/self/mem";

// As long as it lives this process can open `left` descriptors more.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(std::size_t left) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    std::vector<UniqueFd> free;
    while (free.size() <= left) free.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const rlimit less{static_cast<rlim_t>(free.back().get()), before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &less);
  }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;
  ~DescriptorLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace mnet::sys
