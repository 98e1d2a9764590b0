// The rules, one call for each kind of thing. Internal.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lint/finding.h"
#include "lint/lint.h"
#include "lint/objects.h"
#include "model/netconf.h"

namespace mnet::lint {

// What the rules know beside the thing they look at.
struct Known {
  const Options& options;
  const Objects& objects;
  // As the daemon's configuration among the files says, else its defaults.
  model::NetConf conf = {};
  std::map<std::string, const Definition*, std::less<>> definitions = {};  // by namespace/name
};

void check_definition(const Definition& definition, const Known& known, std::vector<Finding>& out);
void check_pod(const PodTemplate& pod, const Known& known, std::vector<Finding>& out);
void check_machine(const VirtualMachine& machine, const Known& known, std::vector<Finding>& out);
void check_cni_configuration(const Configuration& configuration, const Known& known,
                             std::vector<Finding>& out);
// The daemon's configurations, each file together with its fragments.
void check_daemon_configurations(const Objects& objects, std::vector<Finding>& out);
// What the first daemon configuration that can be read says; the defaults if there is none.
model::NetConf daemon_conf(const Objects& objects);
// Mistakes that only show when several objects are seen together.
void check_together(const Known& known, std::vector<Finding>& out);

}  // namespace mnet::lint
