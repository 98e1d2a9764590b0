// Any bytes as the annotations that choose networks: what is accepted has a namespace and as many
// elements as were counted before, and both ways to read one element agree. (A name may be missing
// in JSON: it is checked when it is looked up.)
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/networks_annotation.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto networks = mnet::model::parse_networks_annotation(text, "ns");
  if (networks) {
    if (networks->size() != mnet::model::count_elements(text)) std::abort();
    for (const auto& network : *networks) {
      if (network.ns.empty()) std::abort();
    }
  }
  const auto only = mnet::model::parse_default_network_annotation(text, "ns");
  if (!only) return 0;
  if (networks && networks->size() == 1 && networks->front().name != only->name) std::abort();
  return 0;
}
