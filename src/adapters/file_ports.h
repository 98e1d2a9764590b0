// All of attach's ports for a node where networks, records and plugins are files: for the daemon
// and for thin multus.
#pragma once

#include "adapters/exec_plugins.h"
#include "adapters/file_networks.h"
#include "adapters/file_records.h"
#include "adapters/netns_links.h"
#include "adapters/slots.h"
#include "aio/blocking_pool.h"
#include "attach/ports.h"
#include "base/log.h"

namespace mnet::adapters {

class FilePorts {
 public:
  // Pool and slots must outlive it, and it whoever uses its ports.
  FilePorts(aio::BlockingPool& pool, DelegateSlots& slots, const ExecSettings& settings,
            const Log& log)
      : networks_(pool, log),
        plugins_(pool, slots, settings, log),
        links_(pool, settings.world.mount_namespace),
        readiness_(pool),
        records_(pool) {}

  attach::Ports ports() { return {networks_, plugins_, links_, readiness_, records_}; }

 private:
  FileNetworks networks_;
  ExecPlugins plugins_;
  NetNsLinks links_;
  FileReadiness readiness_;
  FileRecords records_;
};

}  // namespace mnet::adapters
