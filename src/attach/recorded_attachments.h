// Recorded attachments as something to run, and the record of a container that has none yet
// (05, 3.2). Pure.
#pragma once

#include <string>
#include <vector>

#include "attach/container_records.h"
#include "attach/core.h"
#include "attach/source.h"
#include "chain/chain.h"
#include "model/attachment_record.h"

namespace mnet::attach {

// Whether it came to the container after its ADD and is thus in no scratch file.
bool is_plugged_in(const model::RecordedAttachment& attachment);

// What ADD ran, for DEL and CHECK. With `with_addresses` the arguments are ADD's own (02, 7.1).
model::AttachmentPtr attachment_of(const Job& job, const model::AttachmentRecord& attachment_record,
                                   const model::RecordedAttachment& recorded, bool with_addresses);

// The container's attachment record. What it does not know is taken from scratch file and result
// cache, as for a container that another multus made; what its pod's annotation (`pod` may be null)
// does not name, nobody but a client shall ever remove.
model::AttachmentRecord attachment_record_of(const Job& job, const ContainerRecords& record,
                                             const model::PodObject* pod);

// Names of the interfaces in the sandbox that the result lists, the attachment's own among them.
std::vector<std::string> interfaces_of(const model::RecordedAttachment& attachment);

}  // namespace mnet::attach
