// Directories that the daemon works in: whether they exist, who owns them, whether it can write to
// them, and whether their disk has room. Blocks.
#pragma once

#include <cstdint>
#include <string>

#include "selfcheck/finding.h"

namespace mnet::selfcheck {

struct Folder {
  std::string key;   // of the configuration, for people
  std::string path;  // as the daemon sees it
  bool is_written = false;
  bool is_made = false;  // by the daemon, if it is missing
  // The root of the host as the daemon sees it (chrootDir), in which the folder must be the host's
  // own; empty: it need not be, or the daemon runs on the host itself.
  std::string host_root = {};
};
Findings check_folder(const Folder& folder);

struct Room {
  std::uint64_t bytes = 0, files = 0;  // free for root
  bool counts_files = true;            // false: the file system makes as many as it needs
};
// For the disk that `path` is on.
Findings check_disk(const std::string& path);
Findings judge_room(const std::string& path, const Room& room);

// How many descriptors the daemon may have.
Findings judge_descriptors(std::uint64_t limit);

// `is_killed_as_one`: sys::is_killed_as_one().
Findings judge_control_group(bool is_killed_as_one);

}  // namespace mnet::selfcheck
