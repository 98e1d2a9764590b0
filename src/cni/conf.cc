#include "cni/conf.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "cni/conf_parts.h"
#include "cni/family.h"
#include "json/fields.h"
#include "json/json.h"

namespace mnet::cni {
namespace {

constexpr std::string_view kParsing = "error parsing configuration";

Result<void> read_capabilities(const json::Object& object, const std::string& path,
                               PluginConf& conf) {
  for (const auto& [name, value] : object) {
    const bool* on = value.as_bool();
    if (on == nullptr && !value.is_null()) {
      return json::wrong_kind(cat(path, ".", excerpt(name)), "a boolean", value);
    }
    conf.capabilities.emplace_back(name, on != nullptr && *on);
  }
  return {};
}

Result<void> read_known_members(PluginConf& conf) {
  json::Fields fields(conf.object);
  fields.read("cniVersion", conf.version);
  fields.read("name", conf.name);
  fields.read("type", conf.type);
  fields.object("capabilities", [&](const json::Object& object, const std::string& path) {
    return read_capabilities(object, path, conf);
  });
  fields.object("ipam", [&](const json::Object& object, std::string path) {
    json::Fields ipam(object, std::move(path));
    ipam.read("type", conf.ipam_type);
    return ipam.done();
  });
  fields.object("dns", [](const json::Object& object, std::string path) -> Result<void> {
    if (auto dns = read_dns(object, std::move(path)); !dns) return std::move(dns).error();
    return {};
  });
  fields.object("prevResult",
                [](const json::Object&, const std::string&) { return Result<void>(); });
  fields.list("cni.dev/valid-attachments", check_attachment);
  return fields.done();
}

}  // namespace

Result<void> check_attachment(const json::Value& value, std::string path) {
  if (value.is_null()) return {};
  const json::Object* object = value.as_object();
  if (object == nullptr) return json::wrong_kind(path, "an object", value);
  std::string text;
  json::Fields fields(*object, std::move(path));
  fields.read("containerID", text);
  fields.read("ifname", text);
  return fields.done();
}

Result<PluginConf> conf_of(std::string bytes, json::Value document) {
  PluginConf conf;
  conf.bytes = std::move(bytes);
  if (json::Object* object = document.as_object()) {
    conf.object = std::move(*object);
  } else if (!document.is_null()) {
    return json::wrong_kind(kParsing, "an object", document);
  }
  if (auto read = read_known_members(conf); !read) return std::move(read).error().wrap(kParsing);
  if (conf.type.empty()) return Error(Errc::kInvalid, cat(kParsing, ": missing 'type'"));
  return conf;
}

Result<PluginConf> parse_conf(std::string_view text, Texts texts) {
  auto document = json::parse(text);
  if (!document) return std::move(document).error().wrap(kParsing);
  return conf_of(std::string(texts == Texts::kKept ? text : ""), *std::move(document));
}

Result<PluginConf> inject(const PluginConf& conf, const json::Object& values) {
  auto object = conf.bytes.empty() ? conf.object : json::parse_object(conf.bytes);
  if (!object) return std::move(object).error().wrap("unmarshal existing network bytes");
  for (const auto& [key, value] : values) {
    if (key.empty()) return Error(Errc::kInvalid, "keys cannot be empty");
    if (value.is_null()) {
      return Error(Errc::kInvalid, cat("key '", excerpt(key), "' value must not be nil"));
    }
    object->set_folded(key, value);
  }
  std::string bytes = json::dump(*object, json::kSorted);
  return conf_of(std::move(bytes), *std::move(object));
}

Result<std::string> plugin_stdin(const PluginConf& conf, std::string_view network_name,
                                 std::string_view version, const json::Value& prev_result,
                                 const json::Object& capability_args) {
  if (!prev_result.is_null() && prev_result.as_object() == nullptr) {
    return json::wrong_kind("prevResult", "an object", prev_result);
  }
  json::Object object = conf.object;
  // No other spelling of these may stay: a plugin written in Go could take it for ours.
  object.set_folded("name", network_name);
  object.set_folded("cniVersion", version);
  if (!prev_result.is_null()) object.set_folded("prevResult", prev_result);

  json::Object runtime_config;
  for (const auto& [capability, declared] : conf.capabilities) {
    const json::Value* value = declared ? capability_args.find(capability) : nullptr;
    if (value != nullptr) runtime_config.append(capability, *value);
  }
  if (!runtime_config.empty()) object.set_folded("runtimeConfig", std::move(runtime_config));
  // Sorted, as libcni does it: of two spellings of a key a Go plugin takes the last one.
  return json::dump(object, json::kSorted);
}

}  // namespace mnet::cni
