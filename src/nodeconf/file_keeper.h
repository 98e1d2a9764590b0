// Keeps our configuration file in its place (03, 6.6): writes it, puts it back once when another
// program takes it away, and reports a program that does so again. Lives on the event loop.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "base/log.h"
#include "base/result.h"
#include "nodeconf/own_file.h"

namespace mnet::nodeconf {

// What others are told. All are set.
struct ManagerHooks {
  std::function<void(std::string why)> hinder;  // not ready, and why; the last one counts
  std::function<void()> unhinder;
  std::function<void(bool succeeded)> wrote;
  std::function<void()> fought;
  // Whether the file is still ours to write: another daemon may serve the node by now.
  std::function<bool()> is_owner;
};

class FileKeeper {
 public:
  struct Times {
    std::chrono::milliseconds retry;  // between a write that failed and the next one
    std::chrono::milliseconds peace;  // a file that goes twice within this is fought over
  };
  // The pool must outlive the tasks; they run one at a time.
  FileKeeper(aio::BlockingPool& pool, std::string path, Times times, ManagerHooks hooks, Log log);

  const std::string& path() const { return own_.path(); }

  // Writes the file, whatever it says now: it is ours from here on. If it cannot be written, but is
  // there and a runtime can read it, it stays in use, and write() tries again.
  aio::Task<void> publish(std::string text);
  // Writes it unless it says so already, or while it must not or cannot be written.
  aio::Task<void> write(std::string text);
  // Looks whether it is still there, and puts the last text back if it is not.
  aio::Task<void> look();
  // Removes it if it is still the one that we wrote. Blocks.
  Result<bool> withdraw() { return own_.remove_if_ours(); }

 private:
  aio::Task<void> put_back(std::string what);
  void fight(const std::string& what, const std::string& other_name);
  void note_failed_write();

  aio::BlockingPool& pool_;
  const Times times_;
  const ManagerHooks hooks_;
  const Log log_;
  OwnFile own_;
  std::string text_;     // the last good one
  std::string written_;  // what of it the file has; another one while a write fails
  std::optional<std::chrono::steady_clock::time_point> put_back_at_;
  std::chrono::steady_clock::time_point next_try_;  // of a write, after one that failed
  // The file is not there and stays so: it is fought over, or it cannot be written.
  bool is_lost_ = false;
};

}  // namespace mnet::nodeconf
