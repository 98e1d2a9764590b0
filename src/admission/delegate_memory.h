// What delegates of each type took of memory, counted in slots: a limit in memory then holds for
// plugins of any size (03, 2.11). Lives on the event loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace mnet::admission {

class DelegateMemory {
 public:
  static constexpr std::uint64_t kSlot = 32u << 20;  // bytes; what every delegate is taken for
  static constexpr std::size_t kMostTypes = 256;     // that are remembered

  // No delegate counts for more than `most` slots; with 1, memory does not matter.
  explicit DelegateMemory(std::size_t most) : most_(most) {}

  // What the next delegate of that type takes.
  std::size_t slots_of(const std::string& type) const;
  // A delegate has ended whose peak was `peak` bytes. A type's slots only ever rise. True if they
  // did. A child begins in our memory (sys/spawn.h), so a peak of up to `own`, our own, may be
  // ours.
  bool note(const std::string& type, std::uint64_t peak, std::uint64_t own);

 private:
  const std::size_t most_;
  std::map<std::string, std::size_t> slots_;  // of types that take more than one
};

}  // namespace mnet::admission
