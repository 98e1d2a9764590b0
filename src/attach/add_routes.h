// Default routes of one network as the plan for its pod says (02, 5.4): in the pod's namespace, in
// the result cache and in the result itself.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "aio/task.h"
#include "attach/core.h"
#include "chain/chain.h"
#include "cni/result.h"
#include "model/default_routes.h"

namespace mnet::attach {

// The edit for delegate `index` that follows from owners that name a gateway.
model::RouteEdit certain_edit(const model::RoutePlan& plan, std::size_t index);

// Applies the edit to a result of any version; one of 0.1.0 or 0.2.0 gets a route only where it has
// an address of that family.
void edit_result(cni::NetResult& result, const model::RouteEdit& edit);

class RouteEditor {
 public:
  // `own_ifnames`: all interfaces of this request, whose default routes may give way. Core and job
  // must outlive it, and it must outlive its tasks.
  RouteEditor(const Core& core, const Job& job, std::vector<std::string> own_ifnames);

  // In the namespace, then in the cache. The texts of 02, 0.4.
  aio::Task<void> edit(model::AttachmentPtr attachment, model::RouteEdit edit);
  // Of the owners on condition, the families whose interface has a default route now (02, 3.10).
  aio::Task<std::vector<AddressFamily>> fulfilled(model::RoutePlan plan,
                                                  std::vector<model::AttachmentPtr> attachments);

 private:
  // Adds the network and, where it is known, what to do.
  Error failed(Error error, const model::Attachment& attachment, std::string_view doing) const;

  const Core& core_;
  const Job& job_;
  std::vector<std::string> own_ifnames_;
};

}  // namespace mnet::attach
