// Networks given as paths, and the readiness indicator: files of the node. Directories are read on
// a thread of the pool.
#pragma once

#include <string>
#include <vector>

#include "aio/blocking_pool.h"
#include "attach/ports.h"
#include "base/log.h"

namespace mnet::adapters {

class FileNetworks : public attach::Networks {
 public:
  // The pool must outlive it.
  FileNetworks(aio::BlockingPool& pool, Log log) : pool_(pool), log_(std::move(log)) {}

  aio::Task<model::Delegate> by_path(std::string path, std::string own_type = {}) override;
  aio::Task<model::Delegate> by_name(std::string conf_dir, std::string name) override;
  aio::Task<std::vector<cni::PluginConf>> auxiliary_plugins(std::string path,
                                                            std::string name) override;

 private:
  aio::BlockingPool& pool_;
  Log log_;
};

class FileReadiness : public attach::ReadinessIndicator {
 public:
  // The pool must outlive it.
  explicit FileReadiness(aio::BlockingPool& pool) : pool_(pool) {}

  aio::Task<bool> exists(std::string path) override;

 private:
  aio::BlockingPool& pool_;
};

}  // namespace mnet::adapters
