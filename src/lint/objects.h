// The objects that lint examines, taken from files, each with the places of its parts. Internal.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"
#include "lint/finding.h"
#include "lint/text.h"
#include "model/objects.h"

namespace mnet::lint {

struct Definition {
  Document document;
  model::NetworkDefinition object;
  std::optional<Text> config;          // of spec.config; none: a file of that name on the node
  std::optional<json::Object> parsed;  // if it is JSON

  std::string key() const { return object.key(); }
};

// A pod, or the template of a workload's pods.
struct PodTemplate {
  Document document;
  std::string kind;                   // Pod, Deployment, ...
  model::PodObject pod;               // a template's has the workload's namespace and name
  std::string template_pointer = {};  // of the pod template in the document; empty: a pod
  bool is_host_network = false;
  bool has_claims = false;  // of dynamic resources
  std::set<std::string> resources = {};
  std::int64_t replicas = 1;

  // `default/web`, `Deployment default/web`
  std::string title() const { return kind == "Pod" ? pod.key() : kind + " " + pod.key(); }
  std::string annotation_pointer(std::string_view key) const;
  Text annotation_text(std::string_view key) const;
};

// A virtual machine of KubeVirt names definitions in its own way.
struct VirtualMachine {
  Document document;
  std::string kind, ns, name;
  struct Network {
    std::string pointer, name;
  };
  std::vector<Network> networks;

  std::string title() const { return kind + " " + ns + "/" + name; }
};

enum class ConfigKind : std::uint8_t { kDaemon, kFragment, kCni };

// The text of a configuration: a file, or a member of a ConfigMap.
struct Configuration {
  ConfigKind kind = ConfigKind::kCni;
  std::string name;   // of the file or of the member
  std::string title;  // for messages
  Text text;
  std::string daemon_file = {};  // of the daemon's: the same for a file and its fragments
};

struct Objects {
  std::vector<Definition> definitions;
  std::vector<PodTemplate> pods;
  std::vector<VirtualMachine> machines;
  std::vector<Configuration> configurations;
};

// Reads one file; what cannot be read is a finding.
void read_file(const FilePtr& file, const std::string& ns, Objects& out,
               std::vector<Finding>& findings);

}  // namespace mnet::lint
