// The files of pending DELs (03, 2.14): a DEL that did not reach a daemon, or that failed there,
// stays in a file until a daemon has carried it out. The shim, thin multus and the daemon write
// these files, daemon/pending_del_replay.h replays them; only this header knows where they are and
// what they are called.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"

namespace mnet::store {

// A directory below `cni_dir`. No container id may be this name (02, 0.3), so none of our other
// files there has it.
inline constexpr std::string_view kPendingDels = "pending-del";

std::string pending_del_directory(std::string_view cni_dir);  // <cniDir>/pending-del
std::string pending_del_file(std::string_view container_id,
                             std::string_view ifname);  // <containerID>-<ifname>.json

class PendingDels {
 public:
  explicit PendingDels(const std::string& cni_dir);

  struct Record {
    std::string file;  // name inside the directory
    // Meant for /cni. An error if it cannot be read; is_damage() if it never can be (a directory).
    Result<std::string> body;
    std::chrono::system_clock::time_point written = {};  // by the wall clock
  };
  struct Listed {
    std::string file;
    std::chrono::system_clock::time_point written = {};
  };
  // In order of their names, without their bodies: there may be thousands. No directory: none.
  Result<std::vector<Listed>> list() const;
  // Their names alone.
  Result<std::vector<std::string>> list_files() const;
  // Of those that were set aside: their names when they were, perhaps with a number behind.
  Result<std::vector<std::string>> list_set_aside() const;
  // None if it is gone.
  Result<std::optional<Record>> read(const std::string& file) const;
  // By file name. Only the body says which container and interface the record is for: two pairs may
  // share a name.
  Result<std::optional<Record>> find(const std::string& container_id,
                                     const std::string& ifname) const;
  // Durable when this returns: no reader and no crash sees a part of it. Replaces a record of the
  // same name. Yields the path.
  Result<std::string> write(const std::string& container_id, const std::string& ifname,
                            std::string_view body) const;
  // The same, unless the record says it already: that stays as it is, with its age. True if it is
  // new.
  Result<bool> keep(const std::string& container_id, const std::string& ifname,
                    std::string_view body) const;
  Result<bool> remove(const std::string& file) const;  // true if it was there
  // Moves a record that cannot be used to pending-del/bad/, beside what is there under its name;
  // the tenth of a name is replaced.
  Result<void> set_aside(const std::string& file) const;

 private:
  std::string directory_;
};

// The answer of an ADD while the record of an older DEL cannot be read or removed: a later replay
// would delete what the ADD makes.
Error pending_in_the_way(const Error& why);

}  // namespace mnet::store
