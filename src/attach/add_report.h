// What others get to see of an ADD: the event and the log line of each interface (02, 5.6 and 9),
// and the answer for a pod that is no more (02, 5.3).
#pragma once

#include <string>
#include <string_view>

#include "attach/core.h"
#include "attach/source.h"
#include "chain/chain.h"
#include "cni/result.h"

namespace mnet::attach {

// `Add net1 [10.1.1.101/24] from default/macvlan-conf`. `newest` is the result in its newest form.
std::string added_interface(const cni::NetResult& newest, std::string_view ifname,
                            std::string_view delegate_name);

// The line that tools search for (02, 9). `pod` may be missing.
void log_added(const Job& job, const model::PodObjectPtr& pod, const model::Attachment& attachment,
               const cni::NetResult& result);

// A result that runtimes accept and that says nothing, in `version`; in the newest one if that is
// none.
cni::NetResult result_without_pod(std::string_view version, const std::string& ifname,
                                  const std::string& netns);

}  // namespace mnet::attach
