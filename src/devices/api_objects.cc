#include "devices/api_objects.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "aio/task.h"
#include "base/dns_name.h"
#include "base/text.h"
#include "base/try.h"
#include "devices/resource_objects.h"
#include "json/at.h"
#include "json/json.h"
#include "kube/gate.h"
#include "kube/kube.h"

namespace mnet::devices {
namespace {

constexpr std::string_view kApi = "/apis/resource.k8s.io/v1/";
// A slice has at most 128 devices: few at a time, so that no page is large.
constexpr int kSlicesAtOnce = 16;
constexpr std::size_t kMostValues =
    2 * json::kMostValues;  // with all attributes that they may have
constexpr std::array<std::string_view, 2> kUnusedOfSlices = {"managedFields", "capacity"};
// Only a claim's allocation is used; the rest is as large as its author likes.
constexpr std::array<std::string_view, 10> kUnusedOfClaims = {
    "managedFields", "annotations", "labels",       "ownerReferences", "finalizers",
    "spec",          "config",      "nodeSelector", "reservedFor",     "capacity"};

}  // namespace

aio::Task<std::optional<json::Object>> ApiObjects::find_claim(std::string ns, std::string name) {
  if (!is_dns_label(ns) || !is_dns_subdomain(name)) co_return std::optional<json::Object>();
  MNET_CO_TRY(auto&& reply, co_await api_.call_patiently(
                                {.path = cat(kApi, "namespaces/", ns, "/resourceclaims/", name),
                                 .priority = kube::Priority::kLookup,
                                 .share = ns},
                                retries_));
  if (reply.status == 404) co_return std::optional<json::Object>();
  if (!reply.ok()) co_return reply.error();
  MNET_CO_TRY(auto&& claim, json::parse_object_without(kUnusedOfClaims, reply.body));
  co_return std::optional<json::Object>(std::move(claim));
}

// In a share of its own, because it may serve requests of several namespaces.
aio::Task<ResourceObjects::SlicePage> ApiObjects::list_slices(std::string field_selector,
                                                              std::string from) {
  std::string path = cat(kApi, "resourceslices?limit=", kSlicesAtOnce,
                         "&fieldSelector=", kube::query_value(field_selector));
  if (!from.empty()) path += cat("&continue=", kube::query_value(from));
  MNET_CO_TRY(auto&& reply,
              co_await api_.call_patiently(
                  {.path = std::move(path), .priority = kube::Priority::kLookup}, retries_));
  if (!reply.ok()) co_return reply.error();
  MNET_CO_TRY(auto&& list, json::parse_object_without(kUnusedOfSlices, reply.body, kMostValues));
  SlicePage page;
  page.next = json::text_at(list, {"metadata", "continue"});
  if (json::Value* items = list.find("items"); items != nullptr && items->as_array() != nullptr) {
    page.items = std::move(*items->as_array());
  }
  co_return page;
}

}  // namespace mnet::devices
