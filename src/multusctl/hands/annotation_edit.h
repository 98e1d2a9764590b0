// Adds a network to a pod's annotation, or takes one out. The rest stays as its author wrote it.
// Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mnet::multusctl {

struct NetworkChoice {
  std::string ns, name;
  std::string ifname = {};  // empty: any, or none chosen yet

  std::string key() const { return ns + "/" + name; }
};

// `NAMESPACE/NAME`, or a name of the pod's own namespace.
Result<NetworkChoice> parse_choice(std::string_view text, const std::string& pod_ns);

// The first of net1, net2, ... that neither the annotation nor `taken` has.
std::string free_ifname(std::string_view annotation, const std::string& pod_ns,
                        const std::set<std::string>& taken);

// kInvalid: the annotation cannot be read. kConflict: the interface is in it already.
Result<std::string> with_network(std::string_view annotation, const std::string& pod_ns,
                                 const NetworkChoice& network);

struct Without {
  std::string annotation;
  std::string ifname;  // that the network has by its element or its place
};
// kNotFound: it is not in it. kConflict: it is in it several times, and no interface says which.
Result<Without> without_network(std::string_view annotation, const std::string& pod_ns,
                                const NetworkChoice& network);

}  // namespace mnet::multusctl
