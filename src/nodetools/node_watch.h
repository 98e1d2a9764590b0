// `cni-node watch` (04, 3).
#pragma once

#include "aio/task.h"
#include "nodetools/node_command.h"
#include "nodetools/output.h"
#include "sys/signals.h"

namespace mnet::nodetools {

class NodeWatch {
 public:
  NodeWatch(const NodeCommand&, Output& output, sys::Signals&, const aio::asio::any_io_executor&)
      : output_(output) {}
  aio::Task<int> run() {
    output_.complain("watch", "not built yet");
    co_return 1;
  }

 private:
  Output& output_;
};

}  // namespace mnet::nodetools
