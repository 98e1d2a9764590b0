// What must change so that a container has the networks that its pod's annotation names (05, 3.6).
// Pure: elements and record in, operations out.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"
#include "model/attachment_record.h"
#include "model/selection_element.h"

namespace mnet::hotplug {

// Facts that are neither in the annotation nor in the record.
struct DifferenceRules {
  std::set<std::string> links = {};  // names that links in the container's namespace have
  // For a network `<ns>/<name>`, the name in its configuration. Contains only networks that
  // elements name for an interface which a client of /delegate plugged in.
  std::map<std::string, std::string> cni_names = {};
  // Whether the pod may select definitions of that namespace; empty: of every namespace.
  std::function<bool(std::string_view ns)> may_select = {};
  bool replaces_on_change = false;  // of attributes; else they stay as they are
  // Interfaces whose attachments another multus recorded: of their attributes only addresses are
  // known.
  std::set<std::string> reconstructed = {};
};

struct Addition {
  model::NetworkSelectionElement element;
  std::string ifname;
  bool auto_name = false;  // the pod named no interface
};

struct Removal {
  std::string ifname, network;
};

// An attachment that a client plugged in and an element names now.
struct Adoption {
  std::string ifname, network;  // as the annotation calls it
};

// The attributes of an attachment that another multus recorded without them: those of its element,
// which asked for them when the pod was created.
struct Attributes {
  std::string ifname;
  json::Object attributes;
};

// An element that is left alone, and the reason, for people.
struct Refusal {
  std::string ifname, network;  // no name: the pod named none
  std::string reason;
  json::Object wanted = {};  // attributes that differ from those of the attachment
};

struct Difference {
  std::vector<Removal> removals;    // newest first; they come before all additions
  std::vector<Addition> additions;  // in the order of the annotation
  std::vector<Adoption> adopted;
  std::vector<Attributes> learned;
  std::vector<Refusal> rejected;  // elements that cannot be attached
  std::vector<Refusal> ignored;   // attachments whose attributes are not what the element says
  std::size_t matched = 0;        // elements whose network is attached

  bool is_empty() const { return removals.empty() && additions.empty() && adopted.empty(); }
};

// Elements must have passed model::parse_networks_annotation(). Interfaces keep their names:
// neither another order of elements nor a name that is added to one or removed from it is a change.
// Only attachments of the sources `annotation` and `hotplug` are ever removed. One that a crash or
// a failure left half done is removed, and attached anew under its name if it is wanted.
Difference difference(const std::vector<model::NetworkSelectionElement>& wanted,
                      const model::AttachmentRecord& record, const DifferenceRules& rules);

// `<ns>/<name>` of the definition that the element selects.
std::string network_of(const model::NetworkSelectionElement& element);

}  // namespace mnet::hotplug
