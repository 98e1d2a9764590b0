#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "json/json.h"
#include "wire/wire.h"

namespace mnet::wire {
namespace {

constexpr std::string_view kReadinessIndicator = "readinessindicatorfile";

bool is_readiness_indicator(std::string_view key) {
  return equal_ignoring_case(key, kReadinessIndicator);
}

bool drop_indicator(json::Object& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object) {
    if (is_readiness_indicator(key)) keys.push_back(key);
  }
  for (const std::string& key : keys) object.erase(key);
  return !keys.empty();
}

}  // namespace

Result<json::Object> parse_server_config(std::string_view text) {
  auto object = json::parse_object(text);
  if (!object) return std::move(object).error().wrap("failed to unmarshall CNI override config");
  return object;
}

Result<std::string> overlay(std::string_view config, const json::Object* server_config,
                            bool drop_readiness_indicator) {
  auto merged = json::parse_object(config);
  if (!merged) return std::move(merged).error().wrap("failed to unmarshall CNI config");
  const bool dropped = drop_readiness_indicator && drop_indicator(*merged);
  if (server_config == nullptr && !dropped) return std::string(config);
  if (server_config != nullptr) {
    for (const auto& [key, value] : *server_config) {
      if (drop_readiness_indicator && is_readiness_indicator(key)) continue;
      merged->set(key, value);
    }
  }
  return json::dump(*std::move(merged));
}

}  // namespace mnet::wire
