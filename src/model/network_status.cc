#include "model/network_status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/result.h"
#include "cni/version.h"
#include "json/json.h"

namespace mnet::model {
namespace {

std::vector<std::string> default_gateways(const cni::NetResult& result) {
  std::vector<std::string> gateways;
  for (const cni::Route& route : result.routes) {
    if (route.is_default() && route.gw) gateways.push_back(route.gw->text());
  }
  return gateways;
}

void take_interface(NetworkStatus& status, const cni::Interface& interface) {
  status.interface = interface.name;
  status.mac = interface.mac;
  status.mtu = interface.mtu;
}

// With at most one interface listed, all addresses are its own.
std::vector<NetworkStatus> status_of_one(const cni::NetResult& result, NetworkStatus status) {
  if (result.interfaces.empty() && result.ips.empty()) return {};
  if (!result.interfaces.empty() && !result.interfaces[0].sandbox.empty()) {
    take_interface(status, result.interfaces[0]);
  }
  for (const cni::IpConfig& ip : result.ips) status.ips.push_back(ip.address.address.text());
  return {std::move(status)};
}

// Where each interface of the result stands among the statuses; none for host-side ones.
using Places = std::vector<std::optional<std::size_t>>;

std::optional<std::size_t> place_of(const Places& places, std::int64_t interface) {
  if (interface < 0 || static_cast<std::size_t>(interface) >= places.size()) return std::nullopt;
  return places[static_cast<std::size_t>(interface)];
}

// The first address with a gateway and an index tells; a host-side one does not count (02-F08).
std::size_t default_place(const cni::NetResult& result, const Places& places) {
  for (const cni::IpConfig& ip : result.ips) {
    if (ip.gateway && ip.interface) return place_of(places, *ip.interface).value_or(0);
  }
  return 0;
}

std::vector<NetworkStatus> status_per_interface(const cni::NetResult& result,
                                                const NetworkStatus& common, bool is_master) {
  std::vector<NetworkStatus> statuses;
  Places places;
  for (const cni::Interface& interface : result.interfaces) {
    if (interface.sandbox.empty()) {
      places.emplace_back();
      continue;
    }
    places.emplace_back(statuses.size());
    statuses.push_back(common);
    take_interface(statuses.back(), interface);
    statuses.back().is_default = false;
  }
  if (statuses.empty()) return statuses;
  for (const cni::IpConfig& ip : result.ips) {
    const auto place = ip.interface ? place_of(places, *ip.interface) : statuses.size() - 1;
    if (place) statuses[*place].ips.push_back(ip.address.address.text());
  }
  if (is_master) statuses[default_place(result, places)].is_default = true;
  return statuses;
}

}  // namespace

Result<std::vector<NetworkStatus>> network_statuses(
    const cni::NetResult& result, std::string_view delegate_name, bool is_master,
    const std::optional<json::Object>& device_info) {
  MNET_TRY(auto&& newest, cni::convert(result, cni::kCurrentVersion));
  NetworkStatus common;
  common.name = delegate_name;
  common.is_default = is_master;
  common.shared = std::make_shared<const SharedStatus>(SharedStatus{
      .dns = newest.dns, .device_info = device_info, .gateways = default_gateways(newest)});
  if (newest.interfaces.size() < 2) return status_of_one(newest, std::move(common));
  return status_per_interface(newest, common, is_master);
}

json::Object to_json(const NetworkStatus& status) {
  json::Object out{{"name", status.name}};
  if (!status.interface.empty()) out.append("interface", status.interface);
  if (!status.ips.empty()) out.append("ips", status.ips);
  if (!status.mac.empty()) out.append("mac", status.mac);
  if (status.mtu != 0) out.append("mtu", status.mtu);
  if (status.is_default) out.append("default", true);
  const SharedStatus none;
  const SharedStatus& shared = status.shared == nullptr ? none : *status.shared;
  out.append("dns", cni::to_json(shared.dns));
  if (shared.device_info) out.append("device-info", *shared.device_info);
  if (!shared.gateways.empty()) out.append("gateway", shared.gateways);
  return out;
}

bool StatusText::append(const std::string& entry) {
  constexpr std::size_t kAround = 2;  // a comma and the last bracket
  if (text_.size() + entry.size() + kAround > kMaxStatusText) return false;
  if (text_.size() > 1) text_ += ',';
  text_ += entry;
  return true;
}

void StatusText::add_entry(const json::Value& entry) {
  if (!append(json::dump(entry, json::kPretty))) ++left_out_;
}

// Once an entry did not fit, no other is tried whole: the parts in common are as long for each.
void StatusText::add(const NetworkStatus& status) {
  if (!is_short_ && append(json::dump(to_json(status), json::kPretty))) return;
  is_short_ = true;
  NetworkStatus alone = status;
  alone.shared = nullptr;
  const bool is_there = append(json::dump(to_json(alone), json::kPretty));
  ++(is_there ? shortened_ : left_out_);
}

std::string StatusText::shortcomings() const {
  if (shortened_ + left_out_ == 0) return {};
  return cat("the network status would exceed ", kMaxStatusText, " bytes: ", shortened_,
             " entries lack dns, device-info and gateway, ", left_out_, " are left out");
}

StatusText status_text(const std::vector<NetworkStatus>& statuses) {
  StatusText text;
  for (const NetworkStatus& status : statuses) text.add(status);
  return text;
}

std::size_t longest_text(const std::vector<NetworkStatus>& statuses) {
  constexpr std::size_t kAround = 320;  // keys, white space and the numbers of an entry
  constexpr std::size_t kEscaped = 6;   // bytes that one byte becomes at most
  const SharedStatus* seen = nullptr;
  std::size_t shared = 0, all = 0;
  for (const NetworkStatus& status : statuses) {
    // The entries of a network stand together.
    if (status.shared != nullptr && status.shared.get() != seen) {
      seen = status.shared.get();
      NetworkStatus alone;
      alone.shared = status.shared;
      shared = json::dump(to_json(alone), json::kPretty).size();
    }
    std::size_t text = status.name.size() + status.interface.size() + status.mac.size();
    for (const std::string& ip : status.ips) text += ip.size() + kAround / 8;
    all += kAround + kEscaped * text + (status.shared == nullptr ? 0 : shared);
    if (all >= kMaxStatusText) return kMaxStatusText;
  }
  return all;
}

}  // namespace mnet::model
