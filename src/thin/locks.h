// Turns among processes that work below one cniDir: one request per container at a time, and none
// beside a GC (02, 0.5). Within one process attach keeps the turns.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "sys/file_lock.h"

namespace mnet::thin {

// Both block until it is their turn; given back when this goes.
class Locks {
 public:
  // ADD, DEL, CHECK. Makes `cni_dir` where it is missing.
  static Result<Locks> for_container(const std::string& cni_dir, const std::string& container_id);
  // GC.
  static Result<Locks> for_all(const std::string& cni_dir);
  // Of a GC: gives way to what waits, then takes its turn again.
  Result<void> let_others_in();
  // Of a GC: gives its turn back, and takes that of one container, if nothing runs for it.
  Result<std::shared_ptr<void>> lock_one(const std::string& container_id);

 private:
  std::string cni_dir_, folder_;  // of a GC
  sys::FileLock directory_;
  sys::FileLock container_;
};

}  // namespace mnet::thin
