#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "attach/plan.h"
#include "base/error.h"
#include "base/result.h"
#include "base/try.h"
#include "cni/args.h"
#include "cni/conf.h"
#include "groups.h"
#include "json/fields.h"
#include "json/json.h"
#include "model/delegate.h"
#include "model/netconf.h"
#include "model/pod_args.h"
#include "model/runtime_config.h"
#include "model/selection_element.h"

namespace mnet::vectors {
namespace {

Error broken(const Error& why) { return Error(Errc::kBug, "broken case: " + why.text()); }

json::Value pairs_value(const cni::ArgPairs& pairs) {
  json::Array out;
  for (const auto& [key, value] : pairs) out.emplace_back(json::Array{key, value});
  return out;
}

Result<cni::ArgPairs> pairs_of(const json::Object& input, std::string_view key) {
  MNET_TRY(auto&& items, array_of(input, key));
  cni::ArgPairs pairs;
  for (const json::Value& item : items) {
    const json::Array* pair = item.as_array();
    if (pair == nullptr || pair->size() != 2) return Error(Errc::kBug, "broken case: args");
    pairs.emplace_back(*(*pair)[0].as_string(), *(*pair)[1].as_string());
  }
  return pairs;
}

// A selection may lack its name here.
Result<model::NetworkSelectionElement> selection_of(const json::Object& object) {
  model::NetworkSelectionElement selection;
  json::Fields fields(object);
  fields.read("interface", selection.ifname);
  fields.read("mac", selection.mac);
  fields.read("infiniband-guid", selection.infiniband_guid);
  fields.read("ips", selection.ips);
  fields.read("deviceID", selection.device_id);
  if (auto done = fields.done(); !done) return broken(done.error());
  auto mappings = model::find_port_mappings(fields, "portMappings");
  if (!mappings) return broken(mappings.error());
  selection.port_mappings = *std::move(mappings);
  const auto bandwidth = model::find_bandwidth(fields, "bandwidth");
  if (!bandwidth) return broken(bandwidth.error());
  selection.bandwidth = *bandwidth;
  return selection;
}

Result<std::optional<model::Delegate>> delegate_of(const json::Object& input) {
  MNET_TRY(auto&& value, value_of(input, "delegate"));
  const json::Object* object = value.as_object();
  if (object == nullptr) return std::optional<model::Delegate>();
  model::Delegate delegate;
  std::string device_id;
  json::Fields fields(*object);
  fields.read("name", delegate.name);
  fields.read("master", delegate.is_master);
  fields.read("device_id", device_id);
  if (auto done = fields.done(); !done) return broken(done.error());
  MNET_TRY(auto&& members, object_of(*object, "selection"));
  MNET_TRY(auto&& selection, selection_of(members));
  delegate.selection = std::move(selection);
  if (!device_id.empty()) delegate.selection.device_id = device_id;
  return std::optional<model::Delegate>(std::move(delegate));
}

Result<std::optional<model::RuntimeConfig>> runtime_config_of(const json::Object& input) {
  MNET_TRY(auto&& value, value_of(input, "runtime_config"));
  if (value.as_object() == nullptr) return std::optional<model::RuntimeConfig>();
  MNET_TRY(auto&& config, model::read_runtime_config(*value.as_object(), "runtime_config"));
  return std::optional<model::RuntimeConfig>(std::move(config));
}

// Without a delegate runtimeConfig is offered as it is; without either there is nothing to offer.
Result<json::Value> offered(const json::Object& input, const std::string& container_id,
                            const std::string& ifname) {
  MNET_TRY(auto&& config, runtime_config_of(input));
  MNET_TRY(auto&& delegate, delegate_of(input));
  if (!delegate && !config) return json::Value();
  if (!delegate) return json::Value(model::to_json(*config));
  model::NetConf conf;
  conf.runtime_config = std::move(config);
  return json::Value(attach::capability_args(conf, *delegate, container_id, ifname));
}

// Where there is no delegate, a file that the runtime names is none of ours.
json::Value device_info_file(const json::Value& capability_args) {
  const json::Object* object = capability_args.as_object();
  const json::Value* file = object == nullptr ? nullptr : object->find("CNIDeviceInfoFile");
  return file == nullptr ? json::Value("") : *file;
}

Result<json::Object> runtime_conf(const json::Object& input) {
  std::string container_id, netns, ifname, env;
  model::Pod pod;
  json::Fields fields(input);
  fields.read("container_id", container_id);
  fields.read("netns", netns);
  fields.read("ifname", ifname);
  fields.read("cni_args_env", env);
  fields.object("k8s_args", [&](const json::Object& object, std::string path) {
    json::Fields args(object, std::move(path));
    args.read("K8S_POD_NAMESPACE", pod.ns);
    args.read("K8S_POD_NAME", pod.name);
    args.read("K8S_POD_INFRA_CONTAINER_ID", pod.infra_container_id);
    args.read("K8S_POD_UID", pod.uid);
    return args.done();
  });
  if (auto done = fields.done(); !done) return broken(done.error());
  const cni::ArgPairs pairs = cni::parse_args_leniently(env);
  MNET_TRY(auto&& capability_args, offered(input, container_id, ifname));
  return json::Object{{"container_id", container_id},
                      {"netns", netns},
                      {"ifname", ifname},
                      {"args", pairs_value(model::delegate_args(pod, pairs))},
                      {"capability_args", capability_args},
                      {"cni_device_info_file", device_info_file(capability_args)}};
}

Result<json::Object> k8s_args(const json::Object& input) {
  MNET_TRY(auto&& text, text_of(input, "args"));
  MNET_TRY(auto&& pairs, cni::parse_args(text));
  MNET_TRY(auto&& args, model::read_pod_args(std::move(pairs)));
  return json::Object{
      {"k8s_args", json::Object{{"K8S_POD_NAME", args.pod.name},
                                {"K8S_POD_NAMESPACE", args.pod.ns},
                                {"K8S_POD_INFRA_CONTAINER_ID", args.pod.infra_container_id},
                                {"K8S_POD_UID", args.pod.uid},
                                {"IP", args.ip ? json::Value(args.ip->text()) : json::Value()},
                                {"IgnoreUnknown", args.ignore_unknown}}}};
}

Result<json::Object> add_args(const json::Object& input) {
  MNET_TRY(auto&& args, pairs_of(input, "args"));
  MNET_TRY(auto&& members, object_of(input, "selection"));
  MNET_TRY(auto&& selection, selection_of(members));
  MNET_TRY(auto&& all, model::with_selected_addresses(std::move(args), selection));
  return json::Object{{"args", pairs_value(all)}};
}

Result<json::Object> plugin_stdin(const json::Object& input) {
  std::string name, version;
  json::Fields fields(input);
  fields.read("network_name", name);
  fields.read("cni_version", version);
  if (auto done = fields.done(); !done) return broken(done.error());
  MNET_TRY(auto&& plugin, value_of(input, "plugin"));
  MNET_TRY(auto&& prev_result, value_of(input, "prev_result"));
  MNET_TRY(auto&& capability_args, object_of(input, "capability_args"));
  MNET_TRY(auto&& conf, cni::parse_conf(json::dump(plugin)));
  MNET_TRY(auto&& config, cni::plugin_stdin(conf, name, version, prev_result, capability_args));
  MNET_TRY(auto&& document, json::parse(config));
  return json::Object{{"stdin", std::move(document)}};
}

Result<json::Object> ifname(const json::Object& input) {
  std::string cni_ifname;
  std::uint64_t index = 0;
  model::Delegate delegate;
  json::Fields fields(input);
  fields.read("ifname_request", delegate.selection.ifname);
  fields.read("master", delegate.is_master);
  fields.read("cni_ifname", cni_ifname);
  fields.read("index", index);
  if (auto done = fields.done(); !done) return broken(done.error());
  return json::Object{{"ifname", model::interface_name(delegate, index, cni_ifname)}};
}

Result<json::Object> args_string(const json::Object& input) {
  MNET_TRY(auto&& args, pairs_of(input, "args"));
  return json::Object{{"cni_args", cni::args_text(args)}};
}

}  // namespace

Group runtime_config_group() {
  return {.name = "runtime-config",
          .operations = {{"runtime-conf", runtime_conf},
                         {"k8s-args", k8s_args},
                         {"add-args", add_args},
                         {"plugin-stdin", plugin_stdin},
                         {"ifname", ifname},
                         {"args-string", args_string}}};
}

}  // namespace mnet::vectors
