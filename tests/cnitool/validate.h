// Whether the plugins of a network could be run at all: they are there, and they support its
// version (01, 5.8). Attaches nothing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "chain/plugins.h"
#include "model/attachment.h"

namespace mnet::cnitool {

class Validation {
 public:
  // The port must outlive it, and it must outlive its tasks.
  Validation(chain::Plugins& plugins, std::vector<std::string> dirs)
      : plugins_(plugins), dirs_(std::move(dirs)) {}

  // The names of the capabilities that any plugin declares, sorted, none twice. Every plugin is
  // asked: the errors of a list come together as `[e1 e2]`, a single conf's stands for itself.
  aio::Task<std::vector<std::string>> run(model::DelegatePtr delegate);

 private:
  aio::Task<void> ask(std::string type, std::string version);

  chain::Plugins& plugins_;
  std::vector<std::string> dirs_;
};

}  // namespace mnet::cnitool
