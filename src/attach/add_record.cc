#include "attach/add_record.h"

#include <cstddef>
#include <string>
#include <vector>

#include "attach/attachment_record.h"
#include "attach/chain.h"
#include "attach/core.h"
#include "attach/delegate.h"
#include "attach/ports.h"
#include "attach/source.h"
#include "cni/result.h"

namespace mnet::attach {

RecordedAttachment begin_attachment(const Attachment& attachment) {
  const Delegate& delegate = attachment.delegate;
  RecordedAttachment out;
  out.source = delegate.source;
  out.network = delegate.name;
  out.cni_name = delegate.cni_name;
  out.ifname = attachment.ifname;
  out.auto_name = delegate.wishes.ifname.empty();
  out.attributes = delegate.attributes;
  out.config_hash = delegate.config_hash;
  out.device_id = delegate.wishes.device_id;
  out.resource_name = delegate.wishes.resource_name;
  // Every configuration was found fit to run before.
  out.config = delegate.is_list ? delegate.list->object : delegate.list->plugins.front().object;
  out.capability_args = attachment.capability_args;
  return out;
}

AttachmentRecord begin_record(const Job& job, const PodObjectPtr& pod, NetnsId netns,
                              const std::string& boot_id,
                              const std::vector<AttachmentPtr>& attachments) {
  AttachmentRecord record;
  record.container_id = job.request.container_id;
  record.netns = job.request.netns;
  record.netns_inode = netns.inode;
  record.boot_id = boot_id;
  record.pod_ns = job.pod.ns;
  record.pod_name = job.pod.name;
  record.pod_uid = pod == nullptr || pod->uid.empty() ? job.pod.uid : pod->uid;
  record.is_static = pod != nullptr && pod->is_static;
  record.cni_args = job.args;
  for (const AttachmentPtr& attachment : attachments) {
    record.attachments.push_back(begin_attachment(*attachment));
  }
  return record;
}

void complete_record(AttachmentRecord& record, const std::vector<cni::NetResult>& results,
                     const std::string& now) {
  record.state = RecordState::kReady;
  for (std::size_t i = 0; i < results.size(); ++i) {
    RecordedAttachment& attachment = record.attachments[i];
    attachment.result = cni::to_json(results[i]);
    attachment.state = AttachmentState::kAttached;
    attachment.added_at = now;
  }
}

}  // namespace mnet::attach
