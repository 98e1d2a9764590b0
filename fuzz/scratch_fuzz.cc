// Any bytes as a scratch file: damaged, or read into delegates that are the same after writing and
// reading.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "json/json.h"
#include "model/scratch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto document =
      mnet::json::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!document || document->as_array() == nullptr) return 0;
  const auto delegates = mnet::model::decode_scratch(*document->as_array());
  if (!delegates) {
    if (delegates.error().code() != mnet::Errc::kProtocol) std::abort();
    return 0;
  }
  const auto written = mnet::model::encode_scratch(*delegates);
  const auto again = mnet::model::decode_scratch(written);
  if (!again || again->size() != delegates->size()) std::abort();
  const auto twice = mnet::model::encode_scratch(*again);
  for (std::size_t i = 0; i < written.size(); ++i) {
    if ((*again)[i].bytes != (*delegates)[i].bytes) std::abort();
    if (*written[i].as_object()->find("Bytes") != *twice[i].as_object()->find("Bytes")) {
      std::abort();
    }
  }
  return 0;
}
