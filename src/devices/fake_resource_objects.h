// For tests: claims and slices as texts, and what was asked.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aio/event.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/text.h"
#include "base/try.h"
#include "devices/resource_objects.h"
#include "json/json.h"

namespace mnet::devices {

class FakeResourceObjects : public ResourceObjects {
 public:
  FakeResourceObjects() { may_answer.set(); }

  aio::Task<std::optional<json::Object>> find_claim(std::string, std::string name) override {
    asked.push_back(name);
    const auto found = claims.find(name);
    if (found == claims.end()) co_return std::optional<json::Object>();
    co_return std::optional<json::Object>(*json::parse_object(found->second));
  }
  aio::Task<SlicePage> list_slices(std::string selector, std::string from) override {
    asked.push_back(cat(selector, from.empty() ? "" : " from ", from));
    const std::vector<std::string> all = slices[selector];  // as of now
    MNET_CO_TRY_VOID(co_await may_answer.wait());
    if (failing.contains(selector)) co_return Error(Errc::kUnavailable, "refused");
    const std::size_t at = from.empty() ? 0 : std::stoul(from);
    SlicePage page;
    if (at < all.size()) page.items.emplace_back(*json::parse_object(all[at]));
    if (at + 1 < all.size() || is_endless) page.next = std::to_string(at + 1);
    co_return page;
  }

  // `devices` of pool "q" of driver "d".
  void allocate(const std::string& claim, const std::vector<std::string>& devices) {
    std::vector<std::string> results;
    for (const std::string& device : devices) {
      results.push_back(cat(R"({"request":"r","driver":"d","pool":"q","device":")", device, "\"}"));
    }
    claims[claim] =
        cat(R"({"status":{"allocation":{"devices":{"results":[)", join(results, ","), "]}}}}");
  }
  void publish(const std::string& selector, int generation, const std::vector<std::string>& devices,
               const std::string& driver = "d") {
    std::vector<std::string> all;
    for (const std::string& device : devices) {
      all.push_back(cat(R"({"name":")", device, R"(","attributes":{"k8s.cni.cncf.io/deviceID":)",
                        R"({"string":"id-)", device, "-", generation,
                        R"("},"k8s.cni.cncf.io/resourceName":{"string":"res"}}})"));
    }
    slices[selector].push_back(cat(R"({"spec":{"driver":")", driver,
                                   R"(","pool":{"name":"q","generation":)", generation,
                                   R"(},"devices":[)", join(all, ","), "]}}"));
  }

  std::map<std::string, std::string> claims;               // by name
  std::map<std::string, std::vector<std::string>> slices;  // by selector
  std::set<std::string> failing;                           // selectors
  aio::Event may_answer;                                   // lists wait for it
  bool is_endless = false;                                 // each page names another one
  std::vector<std::string> asked;
};

}  // namespace mnet::devices
