// Runs kube-watch's handler (04, 2.5): one program, three arguments, our own output.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aio/task.h"
#include "base/result.h"
#include "sys/spawn.h"

namespace mnet::kube_watch {

struct HandlerCall {
  std::string handler = {};            // a path, or a name to be looked for in PATH
  std::vector<std::string> args = {};  // after its name
  std::vector<std::string> environment = {};
  std::chrono::seconds timeout{0};  // none
  // Told again and again, at times that double, while it runs.
  std::function<void(std::chrono::seconds)> still_runs = [](std::chrono::seconds) {};
};

class Handler {
 public:
  struct Settings {
    std::chrono::milliseconds after_timeout{5000};  // between TERM and KILL
    std::chrono::milliseconds after_cancel{10'000};
    std::chrono::milliseconds first_word{60'000};  // of still_runs
  };
  Handler() = default;
  explicit Handler(Settings settings) : settings_(settings) {}

  // Success is the exit status 0; the error says how else it ended. Cancelling, like the timeout,
  // sends TERM to its process group, then KILL, and the task ends when it has ended. One at a time.
  aio::Task<void> run(HandlerCall call);

  // KILL, now; nothing if none runs.
  void kill() const;

 private:
  Result<sys::Child> start(const HandlerCall& call) const;
  aio::Task<void> await_end(aio::Deadline deadline);
  aio::Task<void> await_end_aloud(HandlerCall call);
  aio::Task<void> end(std::chrono::milliseconds grace);

  Settings settings_ = {};
  std::optional<sys::Child> child_;
};

// As execvp finds a program: a name with a slash as it is, else the first executable in PATH.
// Handler also starts it as execvp does: a shell runs a text without `#!`.
Result<std::string> find_handler(const std::string& name,
                                 const std::vector<std::string>& environment);

}  // namespace mnet::kube_watch
