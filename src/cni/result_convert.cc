#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/family.h"
#include "cni/result.h"
#include "cni/version.h"

namespace mnet::cni {
namespace {

void append_legacy(NetResult& out, const std::optional<LegacyIp>& legacy, std::string label) {
  if (!legacy) return;
  // The label follows the key, not the address.
  out.ips.push_back({.version = std::move(label),
                     .interface = std::nullopt,
                     .address = legacy->ip,
                     .gateway = legacy->gateway});
  out.routes.insert(out.routes.end(), legacy->routes.begin(), legacy->routes.end());
}

NetResult listed_of_legacy(const NetResult& from) {
  NetResult out;
  append_legacy(out, from.ip4, "4");
  append_legacy(out, from.ip6, "6");
  out.dns = from.dns;
  return out;
}

std::optional<LegacyIp> find_labelled(const std::vector<IpConfig>& ips, std::string_view label) {
  const auto ip = std::ranges::find(ips, label, &IpConfig::version);
  if (ip == ips.end()) return std::nullopt;
  return LegacyIp{.ip = ip->address, .gateway = ip->gateway, .routes = {}};
}

Result<NetResult> legacy_of_listed(const NetResult& from) {
  NetResult out;
  out.ip4 = find_labelled(from.ips, "4");
  out.ip6 = find_labelled(from.ips, "6");
  if (!out.ip4 && !out.ip6) {
    return Error(Errc::kInvalid, "cannot convert: no valid IP addresses");
  }
  for (const Route& route : from.routes) {
    std::optional<LegacyIp>& place = route.dst.is_v4() ? out.ip4 : out.ip6;
    if (!place) continue;
    Route kept;
    kept.dst = route.dst;
    kept.gw = route.gw;
    place->routes.push_back(kept);
  }
  out.dns = from.dns;
  return out;
}

NetResult sorted_of_listed(NetResult from) {
  for (IpConfig& ip : from.ips) ip.version.clear();
  return from;
}

NetResult listed_of_sorted(NetResult from) {
  for (Interface& interface : from.interfaces) {
    interface.mtu = 0;
    interface.socket_path.clear();
    interface.pci_id.clear();
  }
  for (IpConfig& ip : from.ips) ip.version = ip.address.is_v4() ? "4" : "6";
  return from;
}

// The middle family is the bridge between the other two.
Result<NetResult> reshape(const NetResult& from, Family family, Family to) {
  if (family == to) return from;
  if (family == Family::kLegacy) {
    NetResult listed = listed_of_legacy(from);
    return to == Family::kListed ? std::move(listed) : sorted_of_listed(std::move(listed));
  }
  if (to == Family::kSorted) return sorted_of_listed(from);
  if (family == Family::kListed) return legacy_of_listed(from);
  NetResult listed = listed_of_sorted(from);
  if (to == Family::kListed) return listed;
  return legacy_of_listed(listed);
}

}  // namespace

std::string version_of(const NetResult& result) {
  if (!result.version.empty()) return result.version;
  if (result.ip4 || result.ip6) return "0.2.0";
  const bool labelled =
      std::ranges::any_of(result.ips, [](const IpConfig& ip) { return !ip.version.empty(); });
  return labelled ? "0.4.0" : std::string(kCurrentVersion);
}

Result<NetResult> convert(const NetResult& result, std::string_view version) {
  if (version.empty()) version = kOldestVersion;
  const std::string from = version_of(result);
  const auto family = find_family(from);
  const auto target = find_family(version);
  if (!family || !target) {
    return Error(Errc::kInvalid,
                 cat("no converter for CNI result version ", from, " to ", version));
  }
  MNET_TRY(auto&& converted, reshape(result, *family, *target));
  converted.version = version;
  converted.dropped = result.dropped;
  return converted;
}

}  // namespace mnet::cni
