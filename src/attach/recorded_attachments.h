// The attachment record of a container (05, 3.2 and 3.11): what ADD writes, before the first
// delegate and at its end; recorded attachments as something to run; the record of a container that
// has none yet. Pure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "attach/container_records.h"
#include "attach/core.h"
#include "attach/source.h"
#include "base/netns_id.h"
#include "chain/chain.h"
#include "cni/result.h"
#include "model/attachment_record.h"

namespace mnet::attach {

// State `adding`.
model::RecordedAttachment begin_attachment(const model::Attachment& attachment);

// State `creating`, all attachments `adding`. `pod` may be missing.
model::AttachmentRecord begin_record(const Job& job, const model::PodObjectPtr& pod, NetnsId netns,
                                     const std::string& boot_id,
                                     const std::vector<model::AttachmentPtr>& attachments);
// State `ready`, all `attached` with their results, which are in the same order.
void complete_record(model::AttachmentRecord& record, const std::vector<cni::NetResult>& results,
                     const std::string& now);

// Whether it came to the container after its ADD and is thus in no scratch file.
bool is_plugged_in(const model::RecordedAttachment& attachment);

// What ADD ran, for DEL and CHECK. With `with_addresses` the arguments are ADD's own (02, 7.1).
model::AttachmentPtr attachment_of(const Job& job, const model::AttachmentRecord& attachment_record,
                                   const model::RecordedAttachment& recorded, bool with_addresses);

// Whether the scratch file lists networks that the attachment record does not know.
bool lists_unrecorded(const ContainerRecords& record);

// The container's attachment record. What it does not know is taken from scratch file and result
// cache, as for a container that another multus made; networks of the scratch file that are not
// among `selected`, those that the pod's annotation names, only a client may remove. `pod` may be
// null.
model::AttachmentRecord attachment_record_of(const Job& job, const ContainerRecords& record,
                                             const model::PodObject* pod,
                                             const std::set<std::string>& selected);

// What the result cache knows of a container that has no attachment record, without its networks.
model::AttachmentRecord header_of(const cni::CachedContainer& container);

// Names of the interfaces in the sandbox that the result lists, the attachment's own among them.
std::vector<std::string> interfaces_of(const model::RecordedAttachment& attachment);

}  // namespace mnet::attach
