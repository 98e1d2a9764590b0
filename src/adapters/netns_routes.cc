#include "adapters/netns_routes.h"

namespace mnet::adapters {

aio::Task<bool> NetNsRoutes::has_default(std::string, std::string, attach::Family) {
  co_return Error(Errc::kUnavailable, "not built yet");
}

aio::Task<void> NetNsRoutes::remove_defaults(std::string, std::string, attach::Family) {
  co_return Error(Errc::kUnavailable, "not built yet");
}

aio::Task<void> NetNsRoutes::add_default(std::string, std::string, cni::IpAddress,
                                         std::vector<std::string>) {
  co_return Error(Errc::kUnavailable, "not built yet");
}

}  // namespace mnet::adapters
