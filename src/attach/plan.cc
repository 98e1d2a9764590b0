#include "attach/plan.h"

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attach/core.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/names.h"
#include "json/at.h"
#include "json/json.h"
#include "model/attachment.h"
#include "model/delegate.h"
#include "model/messages.h"
#include "model/netconf.h"
#include "model/pod_args.h"
#include "model/runtime_config.h"

namespace mnet::attach {
namespace {

Result<model::Attachment> plan_one(const Job& job, model::Delegate delegate, std::size_t index) {
  if (!delegate.list) return delegate.list.error();
  MNET_TRY_VOID(cni::validate_network_name(delegate.list->name));
  std::string ifname = model::interface_name(delegate, index, job.request.ifname);
  MNET_TRY_VOID(cni::validate_ifname(ifname));
  MNET_TRY(auto&& args, model::with_selected_addresses(job.args, delegate.selection));
  model::Attachment attachment = plan_again(job, std::move(delegate), std::move(ifname), false);
  attachment.args = std::move(args);
  return attachment;
}

}  // namespace

json::Object capability_args(const model::NetConf& conf, const model::Delegate& delegate,
                             std::string_view container_id, std::string_view ifname) {
  model::RuntimeConfig config = model::with_selection(
      conf.runtime_config.value_or(model::RuntimeConfig()), delegate.selection, delegate.is_master);
  if (!config.device_id.empty()) {
    config.cni_device_info_file = model::cni_device_info_file(delegate.name, container_id, ifname);
  }
  return model::to_json(config);
}

std::string device_info_file(const json::Object& capability_args) {
  return json::text_at(capability_args, {"CNIDeviceInfoFile"});
}

Result<std::vector<model::AttachmentPtr>> plan_add(const Job& job,
                                                   std::vector<model::Delegate> delegates) {
  std::vector<model::AttachmentPtr> attachments;
  std::set<std::string> names;
  for (std::size_t i = 0; i < delegates.size(); ++i) {
    const std::string network = delegates[i].cni_name;
    auto attachment = plan_one(job, std::move(delegates[i]), i);
    if (!attachment) return model::add_error(std::move(attachment).error(), job.pod, network);
    if (!names.insert(attachment->ifname).second) {
      return model::add_error(
          Error(Errc::kInvalid, cat("interface name ", excerpt(attachment->ifname),
                                    " is requested by two networks; name another "
                                    "interface in the annotation")),
          job.pod, network);
    }
    attachments.push_back(std::make_shared<const model::Attachment>(*std::move(attachment)));
  }
  return attachments;
}

model::Attachment plan_again(const Job& job, model::Delegate delegate, std::string ifname,
                             bool with_addresses) {
  model::Attachment attachment;
  attachment.container_id = job.request.container_id;
  attachment.netns = job.request.netns;
  attachment.args = job.args;
  if (with_addresses) {
    // The addresses of a record were valid when it was written; if not, CHECK does without.
    if (auto args = model::with_selected_addresses(job.args, delegate.selection)) {
      attachment.args = *std::move(args);
    }
  }
  attachment.capability_args =
      capability_args(job.conf, delegate, job.request.container_id, ifname);
  attachment.ifname = std::move(ifname);
  attachment.delegate = std::move(delegate);
  return attachment;
}

}  // namespace mnet::attach
