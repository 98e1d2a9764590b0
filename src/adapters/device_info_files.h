// Device-info files on disk (02, 4.6). They belong to the filesystem of this process: delegates,
// wherever chrootDir or delegateMountNamespace sends them, see the same directory only because it
// is mounted at the same path in both (03, 7).
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "aio/blocking_pool.h"
#include "attach/ports.h"

namespace mnet::adapters {

class DeviceInfoFiles : public attach::DeviceInfos {
 public:
  // The pool must outlive it. `root` goes before every path; empty: the machine's own. What lies
  // below /var/run/ is looked for and made below /run/ where only that has the directory (03, 7).
  explicit DeviceInfoFiles(aio::BlockingPool& pool, std::string root = {})
      : pool_(pool), root_(std::move(root)) {}

  // A file that an earlier ADD left at `path` is gone afterwards, even without a valid source
  // (02-F28). No source is fine, an invalid one is an error.
  aio::Task<void> copy(std::string resource_name, std::string device_id, std::string path) override;
  aio::Task<std::optional<json::Object>> find(std::string path) override;
  // No such file is fine.
  aio::Task<void> remove(std::string path) override;

 private:
  aio::BlockingPool& pool_;
  std::string root_;
};

}  // namespace mnet::adapters
