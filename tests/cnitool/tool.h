// What cnitool does with one network (01, 8): the operations of 01, 5 on real plugins, with the
// result cache in /var/lib/cni.
#pragma once

#include <string>
#include <vector>

#include "adapters/exec_plugins.h"
#include "adapters/file_records.h"
#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "chain/chain.h"
#include "chain/slots.h"
#include "inputs.h"

namespace mnet::cnitool {

class Tool {
 public:
  // `environment`: what plugins inherit. It must outlive its tasks.
  Tool(Inputs inputs, model::DelegatePtr network, std::vector<std::string> environment);

  // Yields what belongs on stdout.
  aio::Task<std::string> run();

 private:
  aio::Task<std::string> add();
  aio::Task<std::string> validate();
  aio::Task<std::string> silent();
  aio::Task<void> operation();
  aio::Task<void> del();
  aio::Task<void> gc();
  model::AttachmentPtr attachment() const;
  model::AttachmentPtr attachment_of(const cni::CachedContainer& container,
                                     const std::string& ifname) const;

  const Inputs inputs_;
  const model::DelegatePtr network_;
  aio::BlockingPool pool_{1};
  chain::UnlimitedSlots slots_;
  adapters::ExecPlugins plugins_;
  adapters::FileRecords records_{pool_, ""};
  chain::Chain chain_;
};

}  // namespace mnet::cnitool
