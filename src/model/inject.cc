#include "model/inject.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/count.h"
#include "json/fields.h"
#include "json/json.h"
#include "model/delegate.h"

namespace mnet::model {
namespace {

// The member of that name, which is made if it is absent.
Result<json::Object*> object_in(json::Object& parent, std::string_view key, std::string_view path) {
  json::Value* value = parent.find(key);
  if (value == nullptr) value = &parent.set(std::string(key), json::Object());
  json::Object* object = value->as_object();
  if (object == nullptr) return json::wrong_kind(path, "an object", *value);
  return object;
}

Result<void> add_cni_args(json::Object& plugin, const json::Object& cni_args) {
  MNET_TRY(auto&& args, object_in(plugin, "args", "args"));
  MNET_TRY(auto&& cni, object_in(*args, "cni", "args.cni"));
  cni->set_all(cni_args);
  return {};
}

Result<void> inject_plugin(json::Object& plugin, const Injection& injection) {
  if (!injection.device_id.empty()) {
    plugin.set("deviceID", injection.device_id);
    plugin.set("pciBusID", injection.device_id);
  }
  if (!injection.cni_args) return {};
  auto added = add_cni_args(plugin, *injection.cni_args);
  if (!added) return std::move(added).error().wrap("cannot add cni-args");
  return {};
}

Result<void> inject_list(json::Object& list, const Injection& injection) {
  json::Value* plugins = list.find("plugins");
  json::Array* elements = plugins == nullptr ? nullptr : plugins->as_array();
  if (elements == nullptr) return Error(Errc::kInvalid, "unable to get plugin list");
  for (std::size_t i = 0; i < elements->size(); ++i) {
    json::Object* plugin = (*elements)[i].as_object();
    const std::string path = cat("plugins[", i, "]");
    if (plugin == nullptr) return json::wrong_kind(path, "an object", (*elements)[i]);
    auto injected = inject_plugin(*plugin, injection);
    if (!injected) return std::move(injected).error().wrap(path);
  }
  return {};
}

}  // namespace

Weight weight_of(std::string_view text) {
  const json::Count count = json::count(text);
  return {.bytes = count.bytes, .values = count.values};
}

Weight weight_of(const json::Object& cni_args, std::size_t plugins) {
  const std::string text = json::dump(cni_args);
  return {.bytes = text.size() * plugins, .values = json::count(text).values * plugins};
}

Weight weight_of(const json::Object& cni_args, const Delegate& delegate) {
  return weight_of(cni_args, delegate.list ? delegate.list->plugins.size() : 1);
}

Result<Delegate> with_injection(Delegate delegate, const Injection& injection) {
  if (injection.is_empty()) return delegate;
  MNET_TRY(auto&& config, json::parse_object(delegate.bytes));
  MNET_TRY_VOID(delegate.is_list ? inject_list(config, injection)
                                 : inject_plugin(config, injection));
  set_bytes(delegate, json::dump(config));
  return delegate;
}

}  // namespace mnet::model
