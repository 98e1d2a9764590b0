#include "admission/delegate_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace mnet::admission {

std::size_t DelegateMemory::slots_of(const std::string& type) const {
  const auto found = slots_.find(type);
  return found == slots_.end() ? 1 : found->second;
}

bool DelegateMemory::note(const std::string& type, std::uint64_t peak, std::uint64_t own) {
  if (peak <= own || peak <= kSlot) return false;
  const auto slots = std::min<std::uint64_t>((peak + kSlot - 1) / kSlot, most_);
  if (slots <= slots_of(type)) return false;
  if (slots_.size() >= kMostTypes && !slots_.contains(type)) return false;
  slots_[type] = static_cast<std::size_t>(slots);
  return true;
}

}  // namespace mnet::admission
