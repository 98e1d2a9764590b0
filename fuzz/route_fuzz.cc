// Any bytes as a message about a route: never read beyond its end, and the request to delete it
// parses as a route again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "rtnl/route.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view message(reinterpret_cast<const char*>(data), size);
  const auto route = mnet::rtnl::parse_route(message);
  if (!route) return 0;
  if (route->hops.empty()) std::abort();
  const auto again = mnet::rtnl::parse_route(route->deletion);
  if (!again || again->family != route->family) std::abort();
  if (again->is_default() != route->is_default() || again->metric != route->metric) std::abort();
  return 0;
}
