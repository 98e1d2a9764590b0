// Any bytes as a manifest: each object that comes out of it can be named in a path.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cni_node/objects.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto objects = mnet::cni_node::parse_manifest(text);
  if (!objects) return 0;
  for (const auto& object : *objects) {
    if (object.id.name.empty() || object.id.kind.empty() || object.document < 1) std::abort();
    if (object.id.name.find('/') != std::string_view::npos) std::abort();
  }
  return 0;
}
