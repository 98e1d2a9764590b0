// Any bytes: refused, or read into a value that survives being printed and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "json/json.h"

using mnet::json::Style;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value = mnet::json::parse({reinterpret_cast<const char*>(data), size});
  if (!value) return 0;
  for (const Style style : {Style{}, mnet::json::kSorted, mnet::json::kPretty}) {
    const auto again = mnet::json::parse(mnet::json::dump(*value, style));
    if (!again || *again != *value) std::abort();
  }
  return 0;
}
