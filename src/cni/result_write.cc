#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cni/address.h"
#include "cni/family.h"
#include "cni/result.h"
#include "json/json.h"

namespace mnet::cni {
namespace {

// Sets a member unless it is empty.
void put(json::Object& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object.append(std::string(key), text);
}
void put(json::Object& object, std::string_view key, const std::vector<std::string>& texts) {
  if (!texts.empty()) object.append(std::string(key), texts);
}
void put(json::Object& object, std::string_view key, std::int64_t number) {
  if (number != 0) object.append(std::string(key), number);
}
void put(json::Object& object, std::string_view key, const std::optional<std::int64_t>& number) {
  if (number) object.append(std::string(key), *number);
}
void put(json::Object& object, std::string_view key, const std::optional<IpAddress>& address) {
  if (address) object.append(std::string(key), address->text());
}
template <typename T, typename Write>
void put(json::Object& object, std::string_view key, const std::vector<T>& items, Write write) {
  if (items.empty()) return;
  json::Array list;
  list.reserve(items.size());
  for (const T& item : items) list.emplace_back(write(item));
  object.append(std::string(key), std::move(list));
}

json::Object interface_json(const Interface& interface) {
  json::Object object{{"name", interface.name}};
  put(object, "mac", interface.mac);
  put(object, "sandbox", interface.sandbox);
  return object;
}

json::Object modern_interface_json(const Interface& interface) {
  json::Object object = interface_json(interface);
  put(object, "mtu", interface.mtu);
  put(object, "socketPath", interface.socket_path);
  put(object, "pciID", interface.pci_id);
  return object;
}

json::Object ip_json(const IpConfig& ip) {
  json::Object object;
  put(object, "interface", ip.interface);
  object.append("address", ip.address.text());
  put(object, "gateway", ip.gateway);
  return object;
}

json::Object labelled_ip_json(const IpConfig& ip) {
  json::Object object{{"version", ip.version}};
  for (auto& [key, value] : ip_json(ip)) object.append(key, std::move(value));
  return object;
}

json::Object route_json(const Route& route) {
  json::Object object{{"dst", route.dst.text()}};
  put(object, "gw", route.gw);
  put(object, "mtu", route.mtu);
  put(object, "advmss", route.advmss);
  put(object, "priority", route.priority);
  put(object, "table", route.table);
  put(object, "scope", route.scope);
  return object;
}

void put(json::Object& object, std::string_view key, const std::optional<LegacyIp>& legacy) {
  if (!legacy) return;
  json::Object inner{{"ip", legacy->ip.text()}};
  put(inner, "gateway", legacy->gateway);
  put(inner, "routes", legacy->routes, route_json);
  object.append(std::string(key), std::move(inner));
}

json::Value sorted(json::Value value) {
  if (json::Array* items = value.as_array()) {
    for (json::Value& item : *items) item = sorted(std::move(item));
  } else if (json::Object* object = value.as_object()) {
    for (auto& [key, member] : *object) member = sorted(std::move(member));
    std::ranges::sort(*object, {}, &json::Member::first);
  }
  return value;
}

}  // namespace

json::Object to_json(const Dns& dns) {
  json::Object object;
  put(object, "nameservers", dns.nameservers);
  put(object, "domain", dns.domain);
  put(object, "search", dns.search);
  put(object, "options", dns.options);
  return object;
}

json::Object to_json(const NetResult& result) {
  const Family family = find_family(version_of(result)).value_or(Family::kSorted);
  const bool modern = family == Family::kSorted;
  json::Object object;
  put(object, "cniVersion", result.version);
  if (family == Family::kLegacy) {
    put(object, "ip4", result.ip4);
    put(object, "ip6", result.ip6);
  } else {
    put(object, "interfaces", result.interfaces, modern ? modern_interface_json : interface_json);
    put(object, "ips", result.ips, modern ? ip_json : labelled_ip_json);
    put(object, "routes", result.routes, route_json);
  }
  if (!modern || !result.dns.empty()) object.append("dns", to_json(result.dns));
  if (!modern) return object;
  json::Value in_order = sorted(std::move(object));
  return std::move(*in_order.as_object());
}

}  // namespace mnet::cni
