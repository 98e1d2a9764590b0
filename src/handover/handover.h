// Two daemons on one socket while one takes over from the other (03, 2.4): which one owns the name,
// when the other has ended, and what keeps them from working on the same container. Knows nothing
// of pods and of HTTP routes. Lives on the event loop.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "aio/task.h"
#include "base/log.h"
#include "base/result.h"
#include "handover/container_locks.h"
#include "nodeconf/changes.h"
#include "sys/file_lock.h"
#include "sys/socket_file.h"

namespace mnet::handover {

// The path of the socket that asks the old daemon to share its locks.
inline constexpr std::string_view kPath = "/handover";

// The second name, under which the probes of a pod find their own daemon: beside `socket_path`,
// with the pod's UID in it. Empty without a UID, or if it does not fit into the name of a socket.
std::string own_socket_path(const std::string& socket_path, const std::string& pod_uid);
// Removes own sockets that killed daemons left beside `socket_path`.
void remove_dead_names(const std::string& socket_path);

struct Pace {
  std::chrono::milliseconds soon{1'000};   // between two looks while there is another daemon
  std::chrono::milliseconds poll{10'000};  // in case inotify misses a change
  // How long the name may be missing: a daemon of the original removes it before it makes its own.
  std::chrono::milliseconds missing{2'000};
  std::chrono::milliseconds answer{5'000};  // how long the old daemon may take to answer
  int answers_missed = 2;                   // after this many unanswered requests it is ignored
};

// Called when something happens to the name. All are set.
struct NameHooks {
  std::function<sys::SocketFile::Name()> state;
  std::function<void()> taken;      // once: another daemon serves from now on
  std::function<void()> lost;       // no daemon has the name: take it again
  std::function<bool()> is_served;  // whether a daemon listens there
  std::function<void()> abandoned;  // once: the daemon that took it is gone, and no other came
};

class Handover {
 public:
  using Now = std::function<std::chrono::steady_clock::time_point()>;

  Handover(std::string socket_path, ContainerLocks::EndOrphans end_orphans, Log log, Pace pace = {},
           Now now = std::chrono::steady_clock::now);

  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;

  ContainerLocks& locks() { return locks_; }
  // Whether there may be another daemon.
  bool is_shared() const { return locks_.is_shared(); }
  // Our name leads to another daemon: this one only finishes its requests.
  bool is_taken() const { return is_taken_; }

  // Shows later daemons that this one is there, and looks for others. Call it before serving; the
  // directory of the socket must exist.
  void enter();
  // New daemon: makes the serving one lock what it works on before the name is taken. Ends when
  // that has been done, or when the other daemon does not know how or does not answer.
  aio::Task<void> announce();
  // Old daemon: its side of the same.
  Result<void> share();

  // Follows the name and the other daemons until cancelled.
  aio::Task<void> follow(NameHooks hooks);

 private:
  void lock();
  void look_at_name(const NameHooks& hooks);
  void look_for_heir(const NameHooks& hooks);
  aio::Task<void> look_for_others();
  // False if another one may be there.
  bool is_alone() const;

  std::string socket_path_;
  ContainerLocks::EndOrphans end_orphans_;
  Log log_;
  Pace pace_;
  Now now_;  // for how long the name has been missing
  ContainerLocks locks_;
  nodeconf::Changes changes_;
  std::optional<sys::Presence> presence_;
  bool is_taken_ = false, is_abandoned_ = false;
  std::optional<std::chrono::steady_clock::time_point> missing_since_;
};

}  // namespace mnet::handover
