// CNI_ARGS: what a request's text says (02, 0.2) and what delegates get (02, 4.2).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cni/address.h"
#include "cni/args.h"
#include "model/selection_element.h"

namespace mnet::model {

struct Pod {
  std::string ns, name, uid, infra_container_id;
  bool named() const { return !ns.empty() && !name.empty(); }
  bool known() const { return !ns.empty() || !name.empty() || !uid.empty(); }
};

// A namespace or a pod's name from CNI_ARGS, for messages: whole, as long as Kubernetes allows it.
std::string shown_name(std::string_view name);

// The request's CNI_ARGS, checked.
struct PodArgs {
  Pod pod;
  std::optional<cni::IpAddress> ip;
  bool ignore_unknown = false;
  cni::ArgPairs pairs;  // all of them, in their order
};

// A value that is not a boolean or an address, and unknown keys without IgnoreUnknown, are errors:
// `ARGS: error parsing value of pair`, `ARGS: unknown args`.
Result<PodArgs> read_pod_args(cni::ArgPairs pairs);
// For DEL, which such errors must not stop: values that cannot be read are skipped (03, 2.9 step
// 5).
PodArgs read_pod_args_leniently(cni::ArgPairs pairs);

// What every delegate gets: IgnoreUnknown and the K8S_POD_* keys, empty ones too, then the
// request's other pairs; no key twice. What `pod` leaves empty is taken from the request's pairs.
cni::ArgPairs delegate_args(const Pod& pod, const cni::ArgPairs& request);

// The same with a delegate's requested MAC and addresses, as ADD passes them (02, 4.2).
Result<cni::ArgPairs> with_selected_addresses(cni::ArgPairs args,
                                              const NetworkSelectionElement& selection);

}  // namespace mnet::model
