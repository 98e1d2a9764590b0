#include "attach/add_routes.h"

#include <cerrno>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/core.h"
#include "attach/ports.h"
#include "base/address_family.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "cni/address.h"
#include "cni/result.h"
#include "cni/version.h"
#include "model/attachment.h"
#include "model/default_routes.h"
#include "model/messages.h"

namespace mnet::attach {
namespace {

constexpr std::string_view kDeleting = "error deleting default gateway";
constexpr std::string_view kSetting = "error setting default gateway";
constexpr std::string_view kDeletingInCache = "error deleting default gateway in cache";
constexpr std::string_view kSettingInCache = "error setting default gateway in cache";

AddressFamily family_of(const cni::IpAddress& address) {
  return address.is_v4() ? AddressFamily::kV4 : AddressFamily::kV6;
}

bool is_default_of(const cni::Route& route, AddressFamily family) {
  return route.is_default() && route.dst.is_v4() == (family == AddressFamily::kV4);
}

cni::Route default_via(const cni::IpAddress& gateway) {
  cni::Route route;
  // The address of the destination is all zero; only its family is taken from the gateway.
  if (gateway.is_v4()) route.dst = cni::Cidr::parse("0.0.0.0/0").value();
  route.gw = gateway;
  return route;
}

bool is_legacy(const cni::NetResult& result) { return !cni::at_least(result.version, {0, 3, 0}); }

}  // namespace

model::RouteEdit certain_edit(const model::RoutePlan& plan, std::size_t index) {
  model::RouteEdit edit;
  for (const AddressFamily family : {AddressFamily::kV4, AddressFamily::kV6}) {
    const std::optional<model::RouteOwner>& owner = plan.owner(family);
    if (!owner || owner->is_conditional()) continue;
    edit.remove.push_back(family);
    if (owner->index == index) edit.add.push_back(*owner->gateway);
  }
  return edit;
}

void edit_result(cni::NetResult& result, const model::RouteEdit& edit) {
  const bool legacy = is_legacy(result);
  const auto with_routes = [&](AddressFamily family, auto change) {
    if (!legacy) return change(result.routes);
    auto& ip = family == AddressFamily::kV4 ? result.ip4 : result.ip6;
    if (ip) change(ip->routes);
  };
  for (const AddressFamily family : edit.remove) {
    with_routes(family, [&](std::vector<cni::Route>& routes) {
      std::erase_if(routes, [&](const cni::Route& route) { return is_default_of(route, family); });
    });
  }
  for (const cni::IpAddress& gateway : edit.add) {
    with_routes(family_of(gateway),
                [&](std::vector<cni::Route>& routes) { routes.push_back(default_via(gateway)); });
  }
}

RouteEditor::RouteEditor(const Core& core, const Job& job, std::vector<std::string> own_ifnames)
    : core_(core), job_(job), own_ifnames_(std::move(own_ifnames)) {}

Error RouteEditor::failed(Error error, const model::Attachment& attachment,
                          std::string_view doing) const {
  const std::string network = cat("network ", go_quoted(attachment.delegate.name));
  if (error.os_errno() == ENETUNREACH) {
    error = error.with_text(
        cat(error.text(), "; a gateway must be in one of the networks of ", attachment.ifname));
  }
  return model::core_error(std::move(error).wrap(network), job_.pod, doing);
}

aio::Task<void> RouteEditor::edit(model::AttachmentPtr attachment, model::RouteEdit edit) {
  Routes& routes = core_.ports.routes;
  for (const AddressFamily family : edit.remove) {
    auto removed = co_await routes.remove_defaults(attachment->netns, attachment->ifname, family);
    if (!removed) co_return failed(std::move(removed).error(), *attachment, kDeleting);
  }
  for (const cni::IpAddress& gateway : edit.add) {
    auto added =
        co_await routes.add_default(attachment->netns, attachment->ifname, gateway, own_ifnames_);
    if (!added) co_return failed(std::move(added).error(), *attachment, kSetting);
  }
  const std::string_view doing = edit.add.empty() ? kDeletingInCache : kSettingInCache;
  auto cached = co_await core_.ports.records.edit_routes(job_.conf.cni_dir, attachment->key(),
                                                         std::move(edit));
  if (!cached) co_return failed(std::move(cached).error(), *attachment, doing);
  co_return Result<void>();
}

aio::Task<std::vector<AddressFamily>> RouteEditor::fulfilled(
    model::RoutePlan plan, std::vector<model::AttachmentPtr> attachments) {
  std::vector<AddressFamily> families;
  for (const AddressFamily family : {AddressFamily::kV4, AddressFamily::kV6}) {
    const std::optional<model::RouteOwner>& owner = plan.owner(family);
    if (!owner || !owner->is_conditional()) continue;
    const model::AttachmentPtr& attachment = attachments[owner->index];
    auto has =
        co_await core_.ports.routes.has_default(attachment->netns, attachment->ifname, family);
    if (!has) co_return failed(std::move(has).error(), *attachment, kDeleting);
    if (*has) families.push_back(family);
  }
  co_return families;
}

}  // namespace mnet::attach
