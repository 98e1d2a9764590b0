// Any bytes as the kubelet's checkpoint file: no pod has a device that no entry of it names.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "devices/checkpoint.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read =
      mnet::devices::parse_checkpoint(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!read) return 0;
  const auto found = mnet::devices::devices_of(*read, "u", {});
  if (!found) std::abort();
  for (const auto& [resource, ids] : *found) {
    const bool is_named = std::ranges::any_of(read->entries, [&](const auto& entry) {
      return entry.pod_uid == "u" && entry.resource == resource;
    });
    if (!is_named || ids.empty()) std::abort();
  }
  return 0;
}
