#include "attach/add_record.h"

#include <cstddef>
#include <string>
#include <vector>

#include "attach/core.h"
#include "attach/ports.h"
#include "attach/source.h"
#include "chain/chain.h"
#include "cni/result.h"
#include "model/attachment_record.h"
#include "model/delegate.h"

namespace mnet::attach {

model::RecordedAttachment begin_attachment(const model::Attachment& attachment) {
  const model::Delegate& delegate = attachment.delegate;
  model::RecordedAttachment out;
  out.source = delegate.source;
  out.network = delegate.name;
  out.cni_name = delegate.cni_name;
  out.ifname = attachment.ifname;
  out.auto_name = delegate.selection.ifname.empty();
  out.attributes = delegate.attributes;
  out.config_hash = delegate.config_hash;
  out.device_id = delegate.selection.device_id;
  out.resource_name = delegate.selection.resource_name;
  // Every configuration was found fit to run before.
  out.config = delegate.is_list ? delegate.list->object : delegate.list->plugins.front().object;
  out.capability_args = attachment.capability_args;
  return out;
}

model::AttachmentRecord begin_record(const Job& job, const model::PodObjectPtr& pod, NetnsId netns,
                                     const std::string& boot_id,
                                     const std::vector<model::AttachmentPtr>& attachments) {
  model::AttachmentRecord record;
  record.container_id = job.request.container_id;
  record.netns = job.request.netns;
  record.netns_inode = netns.inode;
  record.boot_id = boot_id;
  record.pod_ns = job.pod.ns;
  record.pod_name = job.pod.name;
  record.pod_uid = pod == nullptr || pod->uid.empty() ? job.pod.uid : pod->uid;
  record.is_static = pod != nullptr && pod->is_static;
  record.cni_args = job.args;
  for (const model::AttachmentPtr& attachment : attachments) {
    record.attachments.push_back(begin_attachment(*attachment));
  }
  return record;
}

void complete_record(model::AttachmentRecord& record, const std::vector<cni::NetResult>& results,
                     const std::string& now) {
  record.state = model::RecordState::kReady;
  for (std::size_t i = 0; i < results.size(); ++i) {
    model::RecordedAttachment& attachment = record.attachments[i];
    attachment.result = cni::to_json(results[i]);
    attachment.state = model::AttachmentState::kAttached;
    attachment.added_at = now;
  }
}

}  // namespace mnet::attach
