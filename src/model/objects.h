// The objects that say which networks a pod gets, as every source of them reads them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace mnet::model {

// A pod's object. Immutable once handed out.
struct PodObject {
  std::string ns, name;
  std::string uid;               // may be empty in a manifest
  std::string resource_version;  // may be empty
  std::map<std::string, std::string, std::less<>> annotations;
  bool is_static = false;  // its object is a mirror with a UID of its own (02, 5.2)

  // Empty and absent differ: nullptr if it is absent.
  const std::string* annotation(std::string_view key) const {
    const auto found = annotations.find(key);
    return found == annotations.end() ? nullptr : &found->second;
  }
};
using PodObjectPtr = std::shared_ptr<const PodObject>;

// A NetworkAttachmentDefinition.
struct NetworkDefinition {
  std::string ns, name;
  std::optional<std::string> config;  // spec.config word for word
  std::string resource_name;          // of the annotation; empty: none (02, 2.3)
};
using NetworkDefinitionPtr = std::shared_ptr<const NetworkDefinition>;

}  // namespace mnet::model
