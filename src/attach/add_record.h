// The attachment record that an ADD writes: once before the first delegate, once at its end (05,
// 3.2 and 3.11). Pure.
#pragma once

#include <string>
#include <vector>

#include "attach/attachment_record.h"
#include "attach/chain.h"
#include "attach/core.h"
#include "cni/result.h"

namespace mnet::attach {

// State `adding`.
RecordedAttachment begin_attachment(const Attachment& attachment);

// State `creating`, all attachments `adding`. `pod` may be missing.
AttachmentRecord begin_record(const Job& job, const PodObjectPtr& pod, NetnsId netns,
                              const std::string& boot_id,
                              const std::vector<AttachmentPtr>& attachments);
// State `ready`, all `attached` with their results, which are in the same order.
void complete_record(AttachmentRecord& record, const std::vector<cni::NetResult>& results,
                     const std::string& now);

}  // namespace mnet::attach
