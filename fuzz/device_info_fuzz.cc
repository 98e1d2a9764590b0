// Any bytes as a device-info file: what is made of it is read back as itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cni/device_info.h"
#include "json/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto info =
      mnet::cni::parse_device_info(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!info) return 0;
  const std::string text = mnet::json::dump(*info);
  const auto again = mnet::cni::parse_device_info(text);
  if (!again || mnet::json::dump(*again) != text) std::abort();
  return 0;
}
