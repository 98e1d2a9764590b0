// HTTP responses as the shim reads them. How the bytes are split must make no difference.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

#include "shim/response.h"

using namespace mnet;

namespace {

std::optional<shim::Response> read(std::string_view bytes, std::size_t piece) {
  shim::ResponseReader reader;
  while (!bytes.empty()) {
    const std::string_view next = bytes.substr(0, piece);
    if (!reader.feed(next)) return std::nullopt;
    bytes.remove_prefix(next.size());
  }
  if (!reader.finish()) return std::nullopt;
  return std::move(reader).take();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = data[0] % 17 + 1;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto whole = read(bytes, bytes.size() + 1);
  const auto pieces = read(bytes, piece);
  if (whole.has_value() != pieces.has_value()) std::abort();
  if (whole && (whole->status != pieces->status || whole->body != pieces->body)) std::abort();
  return 0;
}
