// Pods and network definitions as far as attaching networks needs them (03, 5.2 and 5.3), read from
// the text of a manifest. Knows nothing of files.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mnet::manifests {

using Annotations = std::map<std::string, std::string, std::less<>>;

struct Pod {
  std::string ns{}, name{};
  std::string uid{};  // empty if the manifest has none
  std::string resource_version{};
  Annotations annotations{};  // all there are
  bool is_static = false;     // kubernetes.io/config.source is there and is not "api"

  // Whether a request for this UID means this pod (02, 5.2): no UID in the request or in the
  // manifest fits every other, and so does the one of a static pod.
  bool fits(std::string_view requested_uid) const;
};

// Which pod something is about.
struct PodRef {
  std::string ns{}, name{};
  std::string uid{};               // may be empty
  std::string resource_version{};  // may be empty
};

struct NetworkAttachmentDefinition {
  std::string ns{}, name{};
  std::string resource_version{};
  std::optional<std::string> config{};  // spec.config word for word; absent is not ""
  std::string resource_name{};          // annotation k8s.v1.cni.cncf.io/resourceName
};

struct Objects {
  std::vector<Pod> pods;
  std::vector<NetworkAttachmentDefinition> networks;
};

// YAML or JSON, several documents, lists (`List`, `PodList`, `NetworkAttachmentDefinitionList`).
// Whatever is no such object is left out; one that the API would refuse for its names or types is
// an error: `line 12: items[3].metadata.name: missing`. The line is that of the document, or the
// very line if the text is no YAML.
Result<Objects> parse_objects(std::string_view text);

}  // namespace mnet::manifests
