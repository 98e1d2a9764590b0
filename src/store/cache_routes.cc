#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/address.h"
#include "cni/version.h"
#include "json/json.h"
#include "store/store.h"

namespace mnet::store {
namespace {

enum class Place : std::uint8_t { kOneList, kPerFamily };

Error wrong(std::string_view what) { return Error(Errc::kProtocol, cat("wrong ", what)); }

// Where a result of its version keeps routes.
Result<Place> place_of(const json::Object& result) {
  const json::Value* version = result.find("cniVersion");
  if (version == nullptr || version->is_null()) return Place::kPerFamily;
  const std::string* text = version->as_string();
  if (text == nullptr) return wrong("cniVersion format");
  if (text->empty() || *text == "0.1.0" || *text == "0.2.0") return Place::kPerFamily;
  if (*text == "0.3.0" || *text == "0.3.1" || *text == "0.4.0") return Place::kOneList;
  if (cni::at_least(*text, {1, 0, 0})) return Place::kOneList;
  return Error(Errc::kProtocol, cat("not supported version: ", excerpt(*text)));
}

// The list of routes in `holder`; nullptr if there is none. `what` is it in messages.
Result<json::Array*> find_routes(json::Object& holder, std::string_view what) {
  json::Value* routes = holder.find("routes");
  // Null is what the original leaves behind when it removes the last route of a 0.2.0 result.
  if (routes == nullptr || routes->is_null()) return nullptr;
  json::Array* list = routes->as_array();
  if (list == nullptr) return wrong(cat(what, " format"));
  return list;
}

// `ip4` or `ip6` of a result of 0.1.0 or 0.2.0; nullptr if there is none.
Result<json::Object*> find_legacy(json::Object& result, const std::string& key) {
  json::Value* value = result.find(key);
  if (value == nullptr || value->is_null()) return nullptr;
  json::Object* object = value->as_object();
  if (object == nullptr) return wrong(cat(key, " format"));
  return object;
}

Result<bool> is_default(const json::Value& route, Families families) {
  const json::Object* object = route.as_object();
  if (object == nullptr) return wrong("route format");
  const json::Value* dst = object->find("dst");
  if (dst == nullptr) return false;
  const std::string* text = dst->as_string();
  if (text == nullptr) return wrong("dst format");
  const auto prefix = cni::Cidr::parse(*text);
  return prefix && prefix->prefix == 0 && (prefix->is_v4() ? families.v4 : families.v6);
}

Result<void> delete_from(json::Object& holder, std::string_view what, Families families) {
  MNET_TRY(auto&& routes, find_routes(holder, what));
  if (routes == nullptr) return {};
  json::Array kept;
  for (json::Value& route : *routes) {
    MNET_TRY(auto&& goes, is_default(route, families));
    if (!goes) kept.push_back(std::move(route));
  }
  if (kept.empty() && (families.v4 || families.v6)) {
    holder.erase("routes");
  } else {
    *routes = std::move(kept);
  }
  return {};
}

Result<void> delete_per_family(json::Object& result, Families families) {
  for (const bool v4 : {true, false}) {
    if (!(v4 ? families.v4 : families.v6)) continue;
    const std::string key = v4 ? "ip4" : "ip6";
    MNET_TRY(auto&& holder, find_legacy(result, key));
    if (holder == nullptr) continue;
    MNET_TRY_VOID(delete_from(*holder, cat(key, " routes"), families));
  }
  return {};
}

Result<void> append_routes(json::Object& holder, std::string_view what,
                           const std::vector<cni::IpAddress>& gateways) {
  MNET_TRY(auto&& routes, find_routes(holder, what));
  if (routes == nullptr) routes = holder.set("routes", json::Array()).as_array();
  for (const cni::IpAddress& gateway : gateways) {
    routes->emplace_back(
        json::Object{{"dst", gateway.is_v4() ? "0.0.0.0/0" : "::/0"}, {"gw", gateway.text()}});
  }
  return {};
}

Result<void> append_per_family(json::Object& result, const std::vector<cni::IpAddress>& gateways) {
  for (const bool v4 : {true, false}) {
    std::vector<cni::IpAddress> of_family;
    std::ranges::copy_if(gateways, std::back_inserter(of_family),
                         [&](const cni::IpAddress& gateway) { return gateway.is_v4() == v4; });
    if (of_family.empty()) continue;
    const std::string key = v4 ? "ip4" : "ip6";
    MNET_TRY(auto&& holder, find_legacy(result, key));
    if (holder == nullptr) continue;
    MNET_TRY_VOID(append_routes(*holder, cat(key, " routes"), of_family));
  }
  return {};
}

// Changes a copy, so that an error half way leaves the file as it was.
template <typename Change>
Result<void> change_result(json::Object& cache_file, Change change) {
  json::Value* value = cache_file.find("result");
  if (value == nullptr) return Error(Errc::kProtocol, "cannot get result from cache");
  if (value->as_object() == nullptr) return wrong("result type");
  json::Object result = *value->as_object();
  MNET_TRY(const auto& place, place_of(result));
  MNET_TRY_VOID(change(result, place));
  *value = std::move(result);
  return {};
}

}  // namespace

Result<void> delete_default_routes(json::Object& cache_file, Families families) {
  return change_result(cache_file, [&](json::Object& result, Place place) {
    return place == Place::kPerFamily ? delete_per_family(result, families)
                                      : delete_from(result, "routes", families);
  });
}

Result<void> add_default_routes(json::Object& cache_file,
                                const std::vector<std::string>& gateways) {
  std::vector<cni::IpAddress> addresses;
  for (const std::string& gateway : gateways) {
    MNET_TRY(auto&& address, cni::IpAddress::parse(gateway));
    addresses.push_back(address);
  }
  return change_result(cache_file, [&](json::Object& result, Place place) {
    return place == Place::kPerFamily ? append_per_family(result, addresses)
                                      : append_routes(result, "routes", addresses);
  });
}

}  // namespace mnet::store
