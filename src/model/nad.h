// From a NetworkAttachmentDefinition's text, and what a pod asks of it, to a delegate (02, 3.1
// and 3.4). Pure: where the definition, a file in its place or the device come from is not known
// here.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "model/delegate.h"
#include "model/networks_annotation.h"
#include "model/objects.h"

namespace mnet::model {

// Whether it holds a configuration itself; if not, a file of its name does.
bool has_configuration(const NetworkDefinition& definition);

// Its text, with the definition's name if it has none; unchanged otherwise. It must be a JSON
// object: `failed to unmarshal Spec.Config`.
Result<std::string> configuration_of(const NetworkDefinition& definition);

// A device that the pod was given; both empty: none.
struct TakenDevice {
  std::string resource_name, id;
};

// The delegate with its device and with what the pod asks of it, remembered and written into its
// configuration. A selection with a name gives the delegate its definition's; a device of the
// resource map wins over one that the pod names.
// The delegate's `cni_args` are then in its configuration and attributes alone.
Result<Delegate> fulfil(Delegate delegate, std::optional<NetworkSelectionElement> selection,
                        const TakenDevice& device);

// The attributes as they were written, without name, namespace and interface: what hot-plug
// compares (05, 3.6).
json::Object attributes_of(const NetworkSelectionElement& selection);

}  // namespace mnet::model
