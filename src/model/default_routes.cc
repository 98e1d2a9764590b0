#include "model/default_routes.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/address_family.h"
#include "base/error.h"
#include "base/result.h"
#include "base/try.h"
#include "cni/address.h"
#include "model/delegate.h"

namespace mnet::model {
namespace {

constexpr std::array<AddressFamily, 2> kFamilies = {AddressFamily::kV4, AddressFamily::kV6};

Error ecmp() {
  return Error(Errc::kInvalid,
               "multus does not support ECMP for default-route; leave one gateway of each family, "
               "or one empty list, among the pod's networks");
}

Result<void> name_owner(RoutePlan& plan, std::size_t index, const std::string& gateway) {
  auto address = cni::IpAddress::parse(gateway);
  if (!address) return std::move(address).error().wrap("default-route");
  const AddressFamily family = address->is_v4() ? AddressFamily::kV4 : AddressFamily::kV6;
  if (plan.owner(family)) return ecmp();
  plan.set_owner(family, {.index = index, .gateway = *address});
  return {};
}

void note_losses(std::vector<Delegate>& delegates, const RoutePlan& plan) {
  for (std::size_t i = 0; i < delegates.size(); ++i) {
    const auto loses = [&](AddressFamily family) {
      return plan.owner(family) && plan.owner(family)->index != i;
    };
    delegates[i].loses_v4_default = loses(AddressFamily::kV4);
    delegates[i].loses_v6_default = loses(AddressFamily::kV6);
  }
}

}  // namespace

Result<RoutePlan> plan_default_routes(std::vector<Delegate>& delegates) {
  RoutePlan plan;
  std::optional<std::size_t> keeper;  // with an empty list: keeps the routes that it has
  for (std::size_t i = 0; i < delegates.size(); ++i) {
    const auto& gateways = delegates[i].selection.gateways;
    if (!gateways) continue;
    if (gateways->empty() && std::exchange(keeper, i)) return ecmp();
    for (const std::string& gateway : *gateways) {
      MNET_TRY_VOID(name_owner(plan, i, gateway));
    }
  }
  for (const AddressFamily family : kFamilies) {
    if (keeper && !plan.owner(family)) plan.set_owner(family, {.index = *keeper, .gateway = {}});
  }
  note_losses(delegates, plan);
  return plan;
}

}  // namespace mnet::model
