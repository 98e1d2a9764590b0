// Device-info files on disk (02, 4.6).
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "aio/blocking_pool.h"
#include "attach/ports.h"

namespace mnet::adapters {

class DeviceInfoFiles : public attach::DeviceInfos {
 public:
  // The pool must outlive it. `root`: where /var/run/k8s.cni.cncf.io/devinfo is looked for; empty:
  // the machine's own.
  explicit DeviceInfoFiles(aio::BlockingPool& pool, std::string root = {})
      : pool_(pool), root_(std::move(root)) {}

  aio::Task<void> copy(std::string resource_name, std::string device_id, std::string path) override;
  aio::Task<std::optional<json::Object>> find(std::string path) override;
  aio::Task<void> remove(std::string path) override;

 private:
  [[maybe_unused]] aio::BlockingPool& pool_;
  [[maybe_unused]] std::string root_;
};

}  // namespace mnet::adapters
