#include "lint/objects.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/spelling.h"
#include "base/text.h"
#include "json/at.h"
#include "json/json.h"
#include "lint/finding.h"
#include "lint/text.h"
#include "model/objects.h"
#include "settings/fragments.h"
#include "yaml/places.h"
#include "yaml/yaml.h"

namespace mnet::lint {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kDaemonConfigName = "daemon-config.json";
constexpr std::string_view kDaemonConfigMap = "multus-daemon-config";

// Keys that only the daemon has: a JSON file with one of them is its configuration.
constexpr std::array kDaemonKeys = {
    "chrootDir"sv,       "socketDir"sv,           "cniConfigDir"sv,       "multusConfigFile"sv,
    "daemonSocketDir"sv, "multusAutoconfigDir"sv, "perNodeCertificate"sv, "objectsDir"sv};

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

// The daemon's file that a file of this path is a fragment of; empty: it is not a fragment.
std::string file_of_fragment(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || !path.ends_with(".json")) return {};
  const std::string folder = path.substr(0, slash);
  const std::size_t up = folder.rfind('/');
  std::string file =
      cat(up == std::string::npos ? "" : folder.substr(0, up + 1), kDaemonConfigName);
  return settings::fragments_directory(file) == folder ? file : std::string();
}

bool is_cni_name(std::string_view name) {
  return name.ends_with(".conf") || name.ends_with(".conflist") || name == "cni-conf.json";
}

bool is_daemon_config(const json::Object& object) {
  return std::ranges::any_of(
      kDaemonKeys, [&object](std::string_view key) { return object.find_folded(key) != nullptr; });
}

// Text that a program has yet to fill in, such as a template of cni-node (04, 1.8).
bool is_template(std::string_view text) {
  const bool has_mark = text.contains("__") || text.contains("{{") || text.contains("${");
  return has_mark && !json::parse(text);
}

// What a file or member of this name holds; none: nothing that lint knows.
std::optional<ConfigKind> kind_of_name(std::string_view name) {
  if (name == kDaemonConfigName) return ConfigKind::kDaemon;
  if (is_cni_name(name)) return ConfigKind::kCni;
  return std::nullopt;
}

std::optional<ConfigKind> kind_of_file(const File& file) {
  if (!file_of_fragment(file.name).empty()) return ConfigKind::kFragment;
  const std::string name = base_name(file.name);
  if (const auto kind = kind_of_name(name)) return kind;
  if (!name.ends_with(".json")) return std::nullopt;
  const auto object = json::parse_object(file.text);
  if (!object || object->find("apiVersion") != nullptr) return std::nullopt;
  if (is_daemon_config(*object)) return ConfigKind::kDaemon;
  if (object->find("plugins") != nullptr || object->find("cniVersion") != nullptr) {
    return ConfigKind::kCni;
  }
  return std::nullopt;
}

// Where the pod template of a workload is; empty: not a workload.
std::string_view template_of(std::string_view kind) {
  for (const std::string_view workload : {"Deployment"sv, "StatefulSet"sv, "DaemonSet"sv,
                                          "ReplicaSet"sv, "Job"sv, "ReplicationController"sv}) {
    if (kind == workload) return "/spec/template";
  }
  return kind == "CronJob" ? "/spec/jobTemplate/spec/template" : "";
}

const json::Value* find_pointer(const json::Value& value, std::string_view pointer) {
  const json::Value* at = &value;
  if (pointer.empty()) return at;
  for (const std::string_view step : split(pointer.substr(1), '/')) {
    const json::Object* object = json::as_object(at);
    if (object == nullptr) return nullptr;
    at = object->find(step);
  }
  return at;
}

const json::Object* object_at(const json::Value& value, std::string_view pointer) {
  return json::as_object(find_pointer(value, pointer));
}

constexpr std::string_view kVersion = "k8s.cni.cncf.io/v1",
                           kDefinitionKind = "NetworkAttachmentDefinition";

// What the CRD does not know. Errors begin with the member's path.
Result<void> check_schema(const json::Object& object) {
  constexpr std::array kSpecKeys = {"config"sv};
  const std::string version = json::text_at(object, {"apiVersion"});
  if (!version.empty() && version != kVersion) {
    return Error(Errc::kInvalid,
                 cat("apiVersion: must be ", kVersion, ", not ", go_quoted(version)));
  }
  const json::Object* spec = json::as_object(object.find("spec"));
  if (spec == nullptr) return {};
  for (const auto& [key, value] : *spec) {
    const std::string meant = suggestion(key, kSpecKeys);
    if (key == kSpecKeys.front() || meant.empty()) continue;
    return Error(Errc::kInvalid, cat("spec.", key, ": unknown key", meant));
  }
  return {};
}

class Reader {
 public:
  Reader(FilePtr file, std::string ns, Objects& out, std::vector<Finding>& findings)
      : file_(std::move(file)), ns_(std::move(ns)), out_(out), findings_(findings) {}

  void read() {
    if (const auto kind = kind_of_file(*file_)) {
      const bool is_fragment = *kind == ConfigKind::kFragment;
      out_.configurations.push_back({*kind, base_name(file_->name), file_->name, Text(file_),
                                     is_fragment ? file_of_fragment(file_->name) : file_->name});
      return;
    }
    auto documents = yaml::parse_documents(file_->text);
    if (!documents) {
      const Text whole(file_);
      const std::string& why = documents.error().text();
      return report(whole.spot_of_error(why), "MN001", file_->name, whole.without_place(why));
    }
    const auto places = yaml::find_places(file_->text);
    for (std::size_t i = 0; i < documents->size(); ++i) {
      const bool has_places = places && i < places->size();
      read_object(
          {file_, std::move((*documents)[i].value),
           std::make_shared<const yaml::Places>(has_places ? (*places)[i] : yaml::Places())});
    }
  }

 private:
  void report(Spot spot, std::string_view code, std::string object, std::string text) {
    findings_.push_back({std::move(spot), code, std::move(object), std::move(text)});
  }

  void read_object(const Document& document) {
    const json::Object* object = document.value().as_object();
    if (object == nullptr) return;
    const std::string kind = json::text_at(*object, {"kind"});
    if (kind.ends_with("List")) return read_list(document, *object);
    if (kind == kDefinitionKind) return read_definition(document, *object);
    if (kind == "Pod") return read_pod(document, *object);
    if (kind == "ConfigMap") return read_config_map(document, *object);
    if (kind.starts_with("VirtualMachine")) return read_machine(document, *object, kind);
    if (!template_of(kind).empty()) return read_workload(document, *object, kind);
    const std::string version = json::text_at(*object, {"apiVersion"});
    constexpr std::array kKinds = {kDefinitionKind};
    const std::string meant = version == kVersion ? suggestion(kind, kKinds) : std::string();
    if (meant.empty()) return;
    refuse(document, *object,
           Error(Errc::kInvalid, cat("kind: unknown kind ", go_quoted(kind), meant)));
  }

  void read_list(const Document& document, const json::Object& object) {
    const json::Array* items = json::as_array(object.find("items"));
    for (std::size_t i = 0; items != nullptr && i < items->size(); ++i) {
      read_object(document.inside(cat("/items/", i), (*items)[i]));
    }
  }

  void refuse(const Document& document, const json::Object& object, const Error& why) {
    const std::string name = cat(json::text_at(object, {"kind"}), " ",
                                 excerpt(json::text_at(object, {"metadata", "name"})));
    const std::string_view text = why.text();
    const std::string pointer = pointer_of(text.substr(0, text.find(": ")));
    report(document.spot(pointer), "MN002", std::string(trim(name)), why.text());
  }

  void read_definition(const Document& document, const json::Object& object) {
    if (const auto fits = check_schema(object); !fits) {
      return refuse(document, object, fits.error());
    }
    auto read = model::parse_network_definition(object, model::Origin::kManifest);
    if (!read) return refuse(document, object, read.error());
    Definition definition{
        .document = document, .object = *std::move(read), .config = {}, .parsed = {}};
    definition.object.ns = namespace_of(object);
    if (const auto& config = definition.object.config; config && !trim(*config).empty()) {
      definition.config = document.text("/spec/config", *config);
    }
    out_.definitions.push_back(std::move(definition));
  }

  void read_pod(const Document& document, const json::Object& object) {
    auto read = model::parse_pod_object(object, model::Origin::kManifest);
    if (!read) return refuse(document, object, read.error());
    PodTemplate pod{.document = document, .kind = "Pod", .pod = *std::move(read)};
    pod.pod.ns = namespace_of(object);
    read_spec(pod, "/spec");
    out_.pods.push_back(std::move(pod));
  }

  void read_workload(const Document& document, const json::Object& object,
                     const std::string& kind) {
    const std::string pointer(template_of(kind));
    const json::Object* pods = object_at(document.value(), pointer);
    const json::Value* metadata = object.find("metadata");
    if (pods == nullptr || json::as_object(metadata) == nullptr) return;
    // A template has no name of its own; it goes by the workload's.
    json::Object as_pod{{"metadata", *metadata}};
    json::Object& made = *as_pod.find("metadata")->as_object();
    const json::Value* annotations = json::find_at(*pods, {"metadata", "annotations"});
    made.set("annotations", annotations == nullptr ? json::Value() : *annotations);
    auto read = model::parse_pod_object(as_pod, model::Origin::kManifest);
    if (!read) return refuse(document, object, read.error());
    PodTemplate pod{.document = document, .kind = kind, .pod = *std::move(read)};
    pod.pod.ns = namespace_of(object);
    pod.template_pointer = pointer;
    read_spec(pod, cat(pointer, "/spec"));
    read_replicas(object, pod);
    out_.pods.push_back(std::move(pod));
  }

  static void read_replicas(const json::Object& object, PodTemplate& pod) {
    if (pod.kind == "DaemonSet") {  // one for each node
      pod.replicas = 2;
      return;
    }
    for (const std::string_view key : {"replicas"sv, "parallelism"sv}) {
      const json::Value* value = json::find_at(object, {"spec", key});
      if (value == nullptr || value->as_number() == nullptr) continue;
      pod.replicas = value->as_number()->as_int64().value_or(1);
    }
  }

  static void read_spec(PodTemplate& pod, const std::string& pointer) {
    const json::Object* spec = object_at(pod.document.value(), pointer);
    if (spec == nullptr) return;
    pod.is_host_network = json::is_true(spec->find("hostNetwork"));
    for (const std::string_view list : {"containers"sv, "initContainers"sv}) {
      for (const json::Value& container : json::elements_of(spec->find(list))) {
        add_resources(container, pod);
      }
    }
    if (spec->find("resourceClaims") != nullptr) pod.has_claims = true;
  }

  static void add_resources(const json::Value& container, PodTemplate& pod) {
    for (const std::string_view part : {"requests"sv, "limits"sv}) {
      const json::Object* amounts = object_at(container, cat("/resources/", part));
      if (amounts == nullptr) continue;
      for (const auto& [name, amount] : *amounts) pod.resources.insert(name);
    }
  }

  void read_config_map(const Document& document, const json::Object& object) {
    const json::Object* data = json::as_object(object.find("data"));
    if (data == nullptr) return;
    const std::string name = json::text_at(object, {"metadata", "name"});
    // The manifests mount the other members of the daemon's ConfigMap as fragments.
    const bool is_daemons = name == kDaemonConfigMap || data->find(kDaemonConfigName) != nullptr;
    for (const auto& [key, value] : *data) {
      auto kind = kind_of_name(key);
      if (!kind && is_daemons && key.ends_with(".json")) kind = ConfigKind::kFragment;
      const std::string* text = value.as_string();
      if (!kind || text == nullptr || is_template(*text)) continue;
      const std::string title = cat("ConfigMap ", excerpt(name));
      out_.configurations.push_back({*kind, key, title,
                                     document.text(cat("/data", yaml::pointer_step(key)), *text),
                                     cat(file_->name, " ", title)});
    }
  }

  void read_machine(const Document& document, const json::Object& object, const std::string& kind) {
    VirtualMachine machine{.document = document,
                           .kind = kind,
                           .ns = namespace_of(object),
                           .name = excerpt(json::text_at(object, {"metadata", "name"})),
                           .networks = {}};
    const std::string base =
        kind == "VirtualMachineInstance" ? "/spec/networks" : "/spec/template/spec/networks";
    const json::Array* networks = json::as_array(find_pointer(document.value(), base));
    for (std::size_t i = 0; networks != nullptr && i < networks->size(); ++i) {
      const json::Object* network = (*networks)[i].as_object();
      const json::Value* name =
          network == nullptr ? nullptr : json::find_at(*network, {"multus", "networkName"});
      if (json::as_string(name) == nullptr) continue;
      machine.networks.push_back({cat(base, "/", i, "/multus/networkName"), *name->as_string()});
    }
    if (!machine.networks.empty()) out_.machines.push_back(std::move(machine));
  }

  std::string namespace_of(const json::Object& object) const {
    std::string named = json::text_at(object, {"metadata", "namespace"});
    return named.empty() ? ns_ : named;
  }

  const FilePtr file_;
  const std::string ns_;
  Objects& out_;
  std::vector<Finding>& findings_;
};

}  // namespace

std::string PodTemplate::annotation_pointer(std::string_view key) const {
  return cat(template_pointer, "/metadata/annotations", yaml::pointer_step(key));
}

Text PodTemplate::annotation_text(std::string_view key) const {
  const std::string* value = pod.annotation(key);
  return document.text(annotation_pointer(key), value == nullptr ? std::string() : *value);
}

void read_file(const FilePtr& file, const std::string& ns, Objects& out,
               std::vector<Finding>& findings) {
  Reader(file, ns, out, findings).read();
}

}  // namespace mnet::lint
