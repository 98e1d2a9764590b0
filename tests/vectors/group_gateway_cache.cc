#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/try.h"
#include "cni/address.h"
#include "groups.h"
#include "json/json.h"
#include "store/store.h"

namespace mnet::vectors {
namespace {

bool flag(const json::Object& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value != nullptr && value->as_bool() != nullptr && *value->as_bool();
}

Result<void> delete_step(json::Object& cache, const json::Value& families) {
  const json::Object* object = families.as_object();
  if (object == nullptr) return Error(Errc::kBug, "broken case: delete");
  return store::delete_default_routes(cache, {flag(*object, "ipv4"), flag(*object, "ipv6")});
}

Result<void> add_step(json::Object& cache, const json::Value& gateways) {
  const json::Array* items = gateways.as_array();
  if (items == nullptr) return Error(Errc::kBug, "broken case: add");
  std::vector<std::string> texts;
  for (const json::Value& item : *items) {
    if (item.as_string() == nullptr) return Error(Errc::kBug, "broken case: add");
    texts.push_back(*item.as_string());
  }
  return store::add_default_routes(cache, texts);
}

Result<void> step(json::Object& cache, const json::Value& what) {
  const json::Object* object = what.as_object();
  if (object == nullptr || object->size() != 1) return Error(Errc::kBug, "broken case: steps");
  const auto& [name, argument] = *object->begin();
  if (name == "delete") return delete_step(cache, argument);
  if (name == "add") return add_step(cache, argument);
  return Error(Errc::kBug, "broken case: unknown step " + name);
}

Result<json::Object> edit(const json::Object& input) {
  MNET_TRY(auto&& cache, object_of(input, "cache"));
  MNET_TRY(auto&& steps, array_of(input, "steps"));
  for (const json::Value& each : steps) {
    MNET_TRY_VOID(step(cache, each));
  }
  return json::Object{{"cache", std::move(cache)}};
}

// `dst` counts as a prefix: `::0/0` is `::/0`.
json::Value with_prefixes(json::Value value) {
  if (json::Array* items = value.as_array()) {
    for (json::Value& item : *items) item = with_prefixes(std::move(item));
  }
  if (json::Object* object = value.as_object()) {
    for (auto& [key, member] : *object) {
      const std::string* text = key == "dst" ? member.as_string() : nullptr;
      const auto prefix = text == nullptr ? Result<cni::Cidr>() : cni::Cidr::parse(*text);
      member = prefix ? json::Value(prefix->text()) : with_prefixes(std::move(member));
    }
  }
  return value;
}

}  // namespace

Group gateway_cache_group() {
  return {.name = "gateway-cache", .operations = {{"", edit}}, .normalise = with_prefixes};
}

}  // namespace mnet::vectors
