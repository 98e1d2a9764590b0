// Which networks of one pod are attached side by side (00-index, "parallelAttach"; 02-F33). The
// reasons for every entry of its table are in docs/parallel-attach.md. Pure.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "model/attachment.h"
#include "model/netconf.h"

namespace mnet::model {

// Attachments `first` to `end - 1` run side by side, after every earlier attachment and before
// every later one.
struct Batch {
  std::size_t first = 0, end = 0;

  std::size_t size() const { return end - first; }
  friend bool operator==(const Batch&, const Batch&) = default;
};

// All attachments, in order. The master is always alone, and first.
std::vector<Batch> batches_of(const std::vector<AttachmentPtr>& attachments, ParallelAttach mode);

// Whether each of its plugins is known not to touch what the pod's other networks create.
bool keeps_to_itself(const Delegate& delegate);

}  // namespace mnet::model
