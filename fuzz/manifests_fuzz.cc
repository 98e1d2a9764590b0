// Any bytes: refused, or read into objects whose names are fit for paths, the same ones each time.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/dns_name.h"
#include "manifests/objects.h"

using mnet::is_dns_label;
using mnet::is_dns_subdomain;

namespace {

template <typename Object>
void check(const Object& object) {
  if (!is_dns_label(object.ns) || !is_dns_subdomain(object.name)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto objects = mnet::manifests::parse_objects(text);
  if (!objects) {
    // A reader of the log must find the place.
    if (!objects.error().text().starts_with("line ")) std::abort();
    return 0;
  }
  for (const auto& pod : objects->pods) check(pod);
  for (const auto& network : objects->networks) check(network);
  const auto again = mnet::manifests::parse_objects(text);
  if (!again || again->pods.size() != objects->pods.size()) std::abort();
  return 0;
}
