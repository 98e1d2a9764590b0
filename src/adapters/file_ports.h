// All of attach's ports for a node where networks, records and plugins are files: for the daemon
// and for thin multus.
#pragma once

#include "adapters/device_info_files.h"
#include "adapters/exec_plugins.h"
#include "adapters/file_networks.h"
#include "adapters/file_records.h"
#include "adapters/netns_links.h"
#include "adapters/netns_routes.h"
#include "aio/blocking_pool.h"
#include "attach/ports.h"
#include "base/log.h"
#include "chain/slots.h"

namespace mnet::adapters {

class FilePorts {
 public:
  // Pool and slots must outlive it, and it must outlive all users of its ports.
  FilePorts(aio::BlockingPool& pool, chain::DelegateSlots& slots, const ExecSettings& settings,
            const Log& log)
      : pool_(pool),
        networks_(pool, log),
        plugins_(pool, slots, settings, log),
        links_(pool, settings.world.mount_namespace),
        routes_(pool, settings.world.mount_namespace),
        readiness_(pool),
        records_(pool, settings.world.mount_namespace),
        device_infos_(pool) {}

  // Without an object source and without devices: those are for their owner to add.
  attach::Ports ports() {
    return {.networks = networks_,
            .plugins = plugins_,
            .links = links_,
            .routes = routes_,
            .readiness = readiness_,
            .records = records_,
            .results = records_,
            .device_infos = device_infos_,
            .pending = &records_,
            .pool = &pool_,
            .link_names = &links_};
  }

 private:
  aio::BlockingPool& pool_;
  FileNetworks networks_;
  ExecPlugins plugins_;
  NetNsLinks links_;
  NetNsRoutes routes_;
  FileReadiness readiness_;
  FileRecords records_;
  DeviceInfoFiles device_infos_;
};

}  // namespace mnet::adapters
