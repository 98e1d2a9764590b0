#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "json/count.h"
#include "json/json.h"
#include "wire/wire.h"

namespace mnet::wire {
namespace {

constexpr std::string_view kReadinessIndicator = "readinessindicatorfile";

bool is_readiness_indicator(std::string_view key) {
  return equal_ignoring_case(key, kReadinessIndicator);
}

void drop_indicator(json::Object& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object) {
    if (is_readiness_indicator(key)) keys.push_back(key);
  }
  for (const std::string& key : keys) object.erase(key);
}

}  // namespace

Result<json::Object> parse_server_config(std::string_view text) {
  auto object = json::parse_object(text);
  if (!object) return std::move(object).error().wrap("failed to unmarshall CNI override config");
  return object;
}

Result<json::Object> parse_config(std::string_view text) {
  constexpr std::string_view kUnmarshal = "failed to unmarshall CNI config";
  if (const std::size_t values = json::count(text).values; values > kMostConfigValues) {
    return Error(Errc::kInvalid,
                 cat(kUnmarshal, ": ", values, " values, more than ", kMostConfigValues));
  }
  auto object = json::parse_object(text);
  if (!object) return std::move(object).error().wrap(kUnmarshal);
  return object;
}

json::Object overlay(json::Object config, const json::Object& server_config,
                     bool drop_readiness_indicator) {
  for (const auto& [key, value] : server_config) config.set_folded(key, value);
  if (drop_readiness_indicator) drop_indicator(config);
  return config;
}

}  // namespace mnet::wire
