#include <cstddef>
#include <map>
#include <optional>
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
#include "wire/wire.h"

namespace mnet::wire {
namespace {

json::Object sorted_env(const Request& request) {
  std::map<std::string_view, std::string_view> sorted;
  for (const auto& [name, value] : request.env) sorted.emplace(name, value);
  json::Object env;
  for (const auto& [name, value] : sorted) env.append(std::string(name), value);
  return env;
}

json::Object attributes_object(const InterfaceAttributes& attributes) {
  json::Object object;
  if (!attributes.ips.empty()) object.set("ips", attributes.ips);
  if (!attributes.mac.empty()) object.set("mac", attributes.mac);
  // Always written, as the original's clients do.
  object.set("cni-args",
             attributes.cni_args ? json::Value(*attributes.cni_args) : json::Value(nullptr));
  return object;
}

Result<void> read_env(const json::Value& value, Request& request) {
  const json::Object* env = value.as_object();
  if (env == nullptr) return json::wrong_kind("env", "an object of strings", value);
  for (const auto& [name, entry] : *env) {
    const std::string* text = entry.as_string();
    if (text == nullptr && !entry.is_null()) {
      return json::wrong_kind(cat("env.", excerpt(name)), "a string", entry);
    }
    // No environment can hold it: everyone behind us would see the value cut short there.
    if (text != nullptr && text->find('\0') != std::string::npos) {
      return Error(Errc::kInvalid, cat("env.", excerpt(name), ": contains a NUL byte"));
    }
    // Go decodes null into a map of strings as the empty text.
    request.env.emplace_back(name, text == nullptr ? std::string() : *text);
  }
  return {};
}

Result<std::string> bytes_of(const json::Array& items) {
  std::string bytes;
  bytes.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const json::Number* number = items[i].as_number();
    const auto byte = number == nullptr ? std::nullopt : number->as_uint64();
    if (!byte || *byte > 0xFF)
      return Error(Errc::kInvalid, cat("config[", i, "]: expected a byte"));
    bytes += static_cast<char>(static_cast<unsigned char>(*byte));
  }
  return bytes;
}

// Base64 in the protocol, an array of bytes because Go's decoder takes that too, an object because
// older documents show one.
Result<std::string> read_config(const json::Value& value) {
  if (const std::string* text = value.as_string()) {
    std::string bytes;
    if (!from_base64(*text, bytes)) {
      return Error(Errc::kInvalid, "config: illegal base64 data");
    }
    return bytes;
  }
  if (const json::Array* items = value.as_array()) return bytes_of(*items);
  if (value.as_object() != nullptr) return json::dump(value, {.escape_html = false});
  return json::wrong_kind("config", "base64 text", value);
}

Result<InterfaceAttributes> read_attributes(const json::Value& value) {
  const std::string path = "interfaceAttributes";
  const json::Object* object = value.as_object();
  if (object == nullptr) return json::wrong_kind(path, "an object", value);
  InterfaceAttributes attributes;
  json::Fields fields(*object, path);
  // The sample of older documents calls them so; the real names win.
  fields.read("IPRequest", attributes.ips);
  fields.read("ips", attributes.ips);
  fields.read("MacRequest", attributes.mac);
  fields.read("mac", attributes.mac);
  const auto take_args = [&](const json::Object& args, const std::string&) -> Result<void> {
    attributes.cni_args = args;
    return {};
  };
  fields.object("CNIArgs", take_args);
  fields.object("cni-args", take_args);
  MNET_TRY_VOID(fields.done());
  return attributes;
}

}  // namespace

const std::string* Request::find_env(std::string_view name) const {
  for (const auto& [key, value] : env) {
    if (key == name) return &value;
  }
  return nullptr;
}

std::string to_text(const Request& request) {
  json::Object object;
  if (!request.env.empty()) object.set("env", sorted_env(request));
  if (!request.config.empty()) object.set("config", to_base64(request.config));
  if (request.attributes) {
    object.set("interfaceAttributes", attributes_object(*request.attributes));
  }
  return json::dump(object);
}

Result<Request> parse_request(std::string_view body) {
  if (const std::size_t values = json::count(body).values; values > kMostRequestValues) {
    return Error(Errc::kInvalid,
                 cat("the request has ", values, " values, more than ", kMostRequestValues));
  }
  MNET_TRY(auto&& document, json::parse(body));
  Request request;
  if (document.is_null()) return request;
  const json::Object* object = document.as_object();
  if (object == nullptr) return json::wrong_kind("request", "an object", document);

  const json::Fields fields(*object);
  if (const json::Value* env = fields.find("env")) {
    MNET_TRY_VOID(read_env(*env, request));
  }
  if (const json::Value* config = fields.find("config")) {
    MNET_TRY(auto&& read, read_config(*config));
    request.config = std::move(read);
  }
  if (const json::Value* attributes = fields.find("interfaceAttributes")) {
    MNET_TRY(auto&& read, read_attributes(*attributes));
    request.attributes = std::move(read);
  }
  return request;
}

Request delegate_request(const DelegateCall& call, std::string config,
                         std::optional<InterfaceAttributes> attributes) {
  std::string command = call.command;
  for (char& c : command) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  Request request;
  request.env = {
      {"CNI_COMMAND", std::move(command)},
      {"CNI_CONTAINERID", call.container_id},
      {"CNI_NETNS", call.netns},
      {"CNI_IFNAME", call.ifname},
      {"CNI_ARGS", cat("K8S_POD_NAMESPACE=", call.pod_namespace, ";K8S_POD_NAME=", call.pod_name,
                       ";K8S_POD_UID=", call.pod_uid)},
  };
  request.config = std::move(config);
  request.attributes = std::move(attributes);
  return request;
}

}  // namespace mnet::wire
