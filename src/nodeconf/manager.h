// The configuration manager (03, 6): finds the primary, keeps `00-multus.conf` as the primary asks,
// and reports programs that change or remove it. Lives on the event loop; knows no HTTP and no
// pods.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "base/log.h"
#include "base/result.h"
#include "nodeconf/changes.h"
#include "nodeconf/file_keeper.h"
#include "nodeconf/generate.h"
#include "nodeconf/own_file.h"
#include "nodeconf/primary.h"

namespace mnet::nodeconf {

struct Pace {
  std::chrono::milliseconds settle{100};          // of events that come together
  std::chrono::milliseconds poll{10'000};         // in case inotify misses a change
  std::chrono::milliseconds retry{1'000};         // between tries of an unusable primary, at first
  std::chrono::milliseconds retry_often{60'000};  // for how long `retry` applies; `poll` after it
  std::chrono::milliseconds line{30'000};         // between log lines that say what is waited for
  std::chrono::milliseconds peace{600'000};  // if our file goes twice within this, a program fights
};

struct ManagerOptions {
  Settings settings;
  std::string autoconfig_dir, cni_config_dir;
  std::string master;     // file name in autoconfig_dir; empty: discover
  std::string indicator;  // readiness indicator; only its directory concerns us
  bool forces_version = false;
  Pace pace = {};
};

class Manager {
 public:
  Manager(aio::BlockingPool& pool, ManagerOptions options, ManagerHooks hooks, Log log);

  // What makes no sense whatever the primary says: the daemon ends with 2. Blocks a moment.
  Result<void> check() const;

  // Until there is a primary that can be used, for ever if need be; says what it waits for. An
  // error (but kCancelled) only where an option asks of the primary that is there at the start what
  // it does not have (03, 6.4): the daemon ends with 2.
  aio::Task<void> find();

  // Writes the file. After find(). Not an error if an earlier one stays in use meanwhile.
  aio::Task<void> publish();

  // Follows the primary and our file after publish(). Returns only when cancelled.
  aio::Task<void> follow();

  // The path of the primary; empty before it is chosen.
  const std::string& primary() const { return primary_; }

  // Removes the file if it is still the one we wrote. When follow() has ended. Blocks.
  Result<bool> withdraw() { return file_.withdraw(); }

 private:
  struct Loaded {
    FileMark mark;
    Primary primary;
  };

  // These block: on a thread of the pool.
  Result<void> force(const std::string& path) const;
  Result<Loaded> load(const std::string& path) const;

  // Whether the primary is found; why not is noted. `is_start`: what an option asks for in vain is
  // an error.
  aio::Task<bool> try_primary(bool is_start);
  void take(const PrimaryChoice& choice, const Loaded& loaded, Generator::Output output);
  void wait_for(const Error& why, const std::string& path);

  aio::Task<void> regenerate();
  aio::Task<void> look_at_primary();
  aio::Task<void> look_for_earlier();
  void note_refusal(const std::string& why);
  // Each text once.
  void warn(const std::string& text);
  aio::Deadline next_look() const;

  aio::BlockingPool& pool_;
  ManagerOptions options_;
  ManagerHooks hooks_;
  Log log_;
  Changes changes_;
  Generator generator_;
  FileKeeper file_;

  std::string primary_;           // path; empty before it is chosen
  std::optional<FileMark> mark_;  // of what text_ was made from, or what was refused
  std::string text_;              // the last good one
  std::string refusal_;           // why the primary as it is now cannot be used; empty: it can
  std::chrono::steady_clock::time_point refused_since_, last_line_;
  bool is_gone_ = false;  // the primary
  std::set<std::string> warned_;
};

}  // namespace mnet::nodeconf
