// A listening unix socket with a name in the file system: taking the name over, giving it up
// (03, 2.4).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"

namespace mnet::sys {

// Listens under a temporary name in the directory of `path` from make() on, and under `path` itself
// from publish() on. Nothing but a socket or an empty directory is ever replaced.
class SocketFile {
 public:
  // Makes missing directories with mode 0700. Fails, with `path` in the text, if the path is longer
  // than the kernel takes (107 bytes, kInvalid), or if something other than a socket or an empty
  // directory has that name (kConflict). Mode of the socket: 0600. Backlog: 4096.
  static Result<SocketFile> make(const std::string& path);

  SocketFile(SocketFile&& other) noexcept;
  SocketFile& operator=(SocketFile&& other) = delete;
  // Removes the name, temporary or final, if it is still the socket made here: a successor may own
  // it by now.
  ~SocketFile();

  // For the log: a directory that others may write to, an empty directory that is in the way.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Whether a process accepts connections under `path` now: during an update the old daemon does.
  // After publish() this one does.
  bool is_served() const;

  // Renames to `path`; an empty directory there is removed first. The daemon that had the name
  // keeps its connections.
  Result<void> publish();

  enum class Name : std::uint8_t {
    kOurs,   // or it is unknown
    kTaken,  // it leads to something else: a successor's socket
    kGone,
  };
  // What has become of the name, temporary or final.
  Name name() const;

  // The listening socket, non-blocking; can be taken once. The name is removed by this object, not
  // with the socket.
  UniqueFd take_listener() { return std::move(listener_); }

 private:
  SocketFile() = default;

  std::string path_;     // final
  std::string current_;  // where the socket is now; empty after a move
  UniqueFd listener_;
  UniqueFd inode_;  // pins the inode, so that its number cannot come back as another's
  std::vector<std::string> warnings_;
};

// Removes sockets in `directory` whose name begins so and on which no process listens any more.
void remove_dead_sockets(const std::string& directory, std::string_view prefix);

}  // namespace mnet::sys
