// Pods and network definitions read from the text of a manifest. Knows nothing of files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/objects.h"

namespace mnet::manifests {

// Which pod something is about.
struct PodRef {
  std::string ns{}, name{};
  std::string uid{};               // may be empty
  std::string resource_version{};  // may be empty
};

struct Objects {
  std::vector<model::PodObject> pods;
  std::vector<model::NetworkDefinition> networks;
};

// YAML or JSON, several documents, lists (`List`, `PodList`, `NetworkAttachmentDefinitionList`).
// Objects of other kinds are left out; one that the API would refuse for its names or types is an
// error: `line 12: items[3].metadata.name: missing`. The line is that of the document or, if the
// text is not YAML, that of the mistake. `ns`: of objects that name no namespace.
Result<Objects> parse_objects(std::string_view text, std::string ns = "default");

}  // namespace mnet::manifests
