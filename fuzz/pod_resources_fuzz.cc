// Any bytes as the kubelet's answers: read whole and read byte by byte they say the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "devices/pod_resources.h"

namespace {

using mnet::devices::AllocatableReader;
using mnet::devices::PodResourcesReader;

template <typename Reader>
auto read(Reader reader, std::string_view bytes, std::size_t piece) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    auto fed = reader->feed(bytes.substr(0, piece));
    if (!fed) return decltype(reader->finish())(fed.error());
  }
  return reader->finish();
}

void check(const auto& whole, const auto& in_pieces) {
  if (whole.has_value() != in_pieces.has_value()) std::abort();
  if (whole && *whole != *in_pieces) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  PodResourcesReader pods({{"n", "p"}}), same_pods({{"n", "p"}});
  check(read(&pods, bytes, size), read(&same_pods, bytes, 1));
  AllocatableReader offer, same_offer;
  check(read(&offer, bytes, size), read(&same_offer, bytes, 1));
  return 0;
}
