#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/args.h"
#include "cni/result.h"
#include "groups.h"
#include "json/fields.h"
#include "json/json.h"
#include "server_daemon.h"
#include "shim/config.h"
#include "wire/wire.h"

namespace mnet::vectors {
namespace {

bool is_indicator_ignored(const json::Object& input) {
  const json::Value* flag = input.find("ignore_readiness_indicator");
  return flag != nullptr && flag->as_bool() != nullptr && *flag->as_bool();
}

// `config` with `server_config` of the case (text or null) laid over.
Result<std::string> laid_over(std::string_view config, const json::Object& input) {
  MNET_TRY(auto&& server, value_of(input, "server_config"));
  json::Object laid;
  if (!server.is_null()) {
    MNET_TRY(auto&& parsed, wire::parse_server_config(*server.as_string()));
    laid = std::move(parsed);
  }
  MNET_TRY(auto&& parsed, wire::parse_config(config));
  const json::Object merged = wire::overlay(parsed, laid, is_indicator_ignored(input));
  // Where nothing changes there is nothing to write anew.
  return json::Value(merged) == json::Value(parsed) ? std::string(config) : json::dump(merged);
}

Result<json::Object> override_config(const json::Object& input) {
  MNET_TRY(auto&& config, text_of(input, "config"));
  MNET_TRY(auto&& merged, laid_over(config, input));
  MNET_TRY(auto&& parsed, json::parse(merged));
  return json::Object{{"config", parsed}, {"config_text", merged}};
}

Result<json::Object> extract(const json::Object& input) {
  MNET_TRY(auto&& body, text_of(input, "request"));
  MNET_TRY(auto&& request, wire::parse_request(body));
  MNET_TRY(auto&& call, wire::extract_call(request));
  MNET_TRY(auto&& config, laid_over(request.config, input));
  MNET_TRY(auto&& parsed, json::parse(config));
  return json::Object{{"command", call.command}, {"container_id", call.container_id},
                      {"netns", call.netns},     {"ifname", call.ifname},
                      {"args", call.args},       {"config", parsed}};
}

// The daemon asks its object source; here the case's list is that.
Result<std::string> uid_from_api(const json::Object& input, const wire::PodIdentity& pod) {
  MNET_TRY(auto&& pods, array_of(input, "api_pods"));
  for (const json::Value& known : pods) {
    std::string ns, name, uid;
    json::Fields fields(*known.as_object());
    fields.read("namespace", ns);
    fields.read("name", name);
    fields.read("uid", uid);
    if (ns == pod.ns && name == pod.name) return uid;
  }
  return wire::missing_pod_uid(Error(Errc::kNotFound, cat("pods ", pod.name, " not found")));
}

Result<json::Object> pod_args(const json::Object& input) {
  MNET_TRY(auto&& env, object_of(input, "env"));
  wire::Request request;
  request.env = {{"CNI_COMMAND", "ADD"}, {"CNI_CONTAINERID", "c"}, {"CNI_NETNS", "/n"}};
  for (const auto& [name, value] : env) request.env.emplace_back(name, *value.as_string());
  MNET_TRY(auto&& call, wire::extract_call(request));
  MNET_TRY(auto&& pod, wire::pod_identity(call.args, {}));
  if (cni::find_arg(pod.pairs, "K8S_POD_UID") == nullptr) {
    MNET_TRY(auto&& uid, uid_from_api(input, pod));
    pod.uid = std::move(uid);
  }
  return json::Object{{"pod", json::Object{{"namespace", pod.ns},
                                           {"name", pod.name},
                                           {"uid", pod.uid},
                                           {"infra_container_id", pod.infra_container_id}}}};
}

Result<json::Object> delegate_request(const json::Object& input) {
  wire::DelegateCall call;
  std::string config;
  json::Fields fields(input);
  fields.read("command", call.command);
  fields.read("container_id", call.container_id);
  fields.read("netns", call.netns);
  fields.read("ifname", call.ifname);
  fields.read("pod_namespace", call.pod_namespace);
  fields.read("pod_name", call.pod_name);
  fields.read("pod_uid", call.pod_uid);
  fields.read("config", config);
  std::optional<wire::InterfaceAttributes> attributes;
  fields.object("interface_attributes", [&](const json::Object& object, const std::string& path) {
    attributes.emplace();
    json::Fields members(object, path);
    members.read("ips", attributes->ips);
    members.read("mac", attributes->mac);
    members.object("cni-args", [&](const json::Object& args, const std::string&) -> Result<void> {
      attributes->cni_args = args;
      return {};
    });
    return members.done();
  });
  if (auto read = fields.done(); !read) return Error(Errc::kBug, read.error().text());
  MNET_TRY(auto&& sent,
           json::parse(wire::to_text(wire::delegate_request(call, config, attributes))));
  return json::Object{{"request", sent}};
}

Result<json::Object> response(const json::Object& input) {
  MNET_TRY(auto&& document, value_of(input, "result"));
  MNET_TRY(auto&& result, cni::read_result(document));
  MNET_TRY(auto&& body, wire::response_body(result));
  MNET_TRY(auto&& parsed, json::parse(body));
  return json::Object{{"response", parsed}};
}

Result<json::Object> shim_config(const json::Object& input) {
  MNET_TRY(auto&& text, text_of(input, "config"));
  MNET_TRY(auto&& config, shim::parse_config(text));
  return json::Object{{"cni_version", config.cni_version}, {"socket", config.socket}};
}

Result<json::Object> client_error(const json::Object& input) {
  MNET_TRY(auto&& body, text_of(input, "body"));
  std::int64_t status = 0;
  json::Fields fields(input);
  fields.read("status", status);
  if (auto read = fields.done(); !read) return Error(Errc::kBug, read.error().text());
  const Error error = wire::parse_error(static_cast<int>(status), body);
  if (error.origin() == nullptr) {
    return json::Object{{"error", json::Object{{"text", error.text()}}}};
  }
  return json::Object{
      {"error", json::Object{{"code", json::Number::of_text(cat(error.origin()->code))},
                             {"msg", error.origin()->msg},
                             {"details", error.origin()->details}}}};
}

}  // namespace

Group server_request_group() {
  return {.name = "server-request",
          .operations = {{"override", override_config},
                         {"extract", extract},
                         {"pod-args", pod_args},
                         {"delegate-request", delegate_request},
                         {"response", response},
                         {"shim-config", shim_config},
                         {"client-error", client_error},
                         {"daemon-config", daemon_config},
                         {"http", http_status}}};
}

}  // namespace mnet::vectors
