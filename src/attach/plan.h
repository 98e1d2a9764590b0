// From delegates to attachments: the interface name, the arguments and the capability arguments
// that each is run with (02, 4.1 to 4.3). Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "attach/core.h"
#include "chain/chain.h"

namespace mnet::attach {

// All that 02, 4.3 offers to a delegate, before its plugins' capabilities filter it.
json::Object capability_args(const model::NetConf& conf, const model::Delegate& delegate,
                             std::string_view container_id, std::string_view ifname);

// `CNIDeviceInfoFile` of what a delegate is offered (02, 4.6); empty if there is none.
std::string device_info_file(const json::Object& capability_args);

// What ADD is to run. Interface and network names must be valid, interface names distinct, and
// every configuration fit to run; this is checked before anything changes (02-F22).
Result<std::vector<model::AttachmentPtr>> plan_add(const Job& job,
                                                   std::vector<model::Delegate> delegates);

// A delegate as CHECK and DEL run it, under the name that ADD gave it. With `with_addresses` the
// arguments are ADD's own (02, 7.1).
model::Attachment plan_again(const Job& job, model::Delegate delegate, std::string ifname,
                             bool with_addresses);

}  // namespace mnet::attach
