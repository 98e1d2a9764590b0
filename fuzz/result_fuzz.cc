// Any bytes as a plugin's output: refused, or read into a result that is the same after printing
// and reading, and that every conversion turns into a readable result or refuses.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cni/error.h"
#include "cni/result.h"
#include "cni/version.h"
#include "json/json.h"

namespace {

using mnet::cni::NetResult;

void check_print(NetResult result) {
  const auto again = mnet::cni::read_result(mnet::cni::to_json(result));
  result.dropped.clear();  // says how it was read, not what it is
  if (!again || *again != result) std::abort();
}

void check(const NetResult& result) {
  check_print(result);
  for (const std::string_view version : mnet::cni::kVersions) {
    const auto converted = mnet::cni::convert(result, version);
    if (!converted) continue;
    if (converted->version != version) std::abort();
    check_print(*converted);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string_view version : mnet::cni::kVersions) {
    if (const auto result = mnet::cni::read_plugin_output(text, version)) check(*result);
  }
  (void)mnet::cni::parse_version_reply(text);
  const auto document = mnet::json::parse(text);
  if (!document) return 0;
  if (const auto result = mnet::cni::read_result(*document)) check(*result);
  if (const auto* config = document->as_object()) {
    const auto prev = mnet::cni::read_prev_result(*config);
    if (prev && *prev) check(**prev);
  }
  const auto error = mnet::cni::parse_error_object(*document);
  if (!error) return 0;
  if (mnet::cni::parse_error_object(mnet::cni::to_json(*error)).value() != *error) std::abort();
  return 0;
}
