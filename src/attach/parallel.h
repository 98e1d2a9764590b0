// Which networks of one pod are attached side by side (00-index, "parallelAttach"; 02-F33). The
// reasons for every entry of its table are in docs/parallel-attach.md. Pure.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "attach/chain.h"
#include "attach/netconf.h"

namespace mnet::attach {

// Attachments `first` to `end - 1` run together, after all before them and before all behind them.
struct Batch {
  std::size_t first = 0, end = 0;

  std::size_t size() const { return end - first; }
  friend bool operator==(const Batch&, const Batch&) = default;
};

// All attachments, in order. The master is always alone, and first.
std::vector<Batch> batches_of(const std::vector<AttachmentPtr>& attachments, ParallelAttach mode);

// Whether all its plugins are known to leave alone what other networks of the same pod make.
bool keeps_to_itself(const Delegate& delegate);

// Whether plugins of this type are known to do nothing before they have read their configuration:
// they may be started ahead of their turn.
bool waits_for_config(std::string_view type);

}  // namespace mnet::attach
