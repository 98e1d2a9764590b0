// Which delegate of a pod owns the default route of each family (02, 3.10). Pure; the routes
// themselves are edited elsewhere.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/address_family.h"
#include "base/result.h"
#include "cni/address.h"
#include "model/delegate.h"

namespace mnet::model {

struct RouteOwner {
  std::size_t index = 0;                  // of the delegate
  std::optional<cni::IpAddress> gateway;  // the one it names
  // Named no gateway (`[]`): it is the owner only if, after its ADD, its interface has a default
  // route of that family.
  bool is_conditional() const { return !gateway.has_value(); }
};

// What happens to the default routes of one result.
struct RouteEdit {
  std::vector<AddressFamily> remove;
  std::vector<cni::IpAddress> add;
};

class RoutePlan {
 public:
  // None: that family is left alone everywhere.
  const std::optional<RouteOwner>& owner(AddressFamily family) const {
    return owners_[static_cast<std::size_t>(family)];
  }
  void set_owner(AddressFamily family, RouteOwner owner) {
    owners_[static_cast<std::size_t>(family)] = owner;
  }
  bool is_empty() const { return !owners_[0] && !owners_[1]; }

 private:
  std::array<std::optional<RouteOwner>, 2> owners_;
};

// Reads the selection elements of all delegates and notes in each which families it loses. More
// than one gateway per family is an error: `multus does not support ECMP for default-route`.
Result<RoutePlan> plan_default_routes(std::vector<Delegate>& delegates);

}  // namespace mnet::model
