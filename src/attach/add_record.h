// The attachment record that an ADD writes: once before the first delegate, once at its end (05,
// 3.2 and 3.11). Pure.
#pragma once

#include <string>
#include <vector>

#include "attach/core.h"
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

}  // namespace mnet::attach
