#include "kube_watch/handler.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/cancel.h"
#include "aio/readable.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/environment.h"
#include "sys/spawn.h"

namespace mnet::kube_watch {
namespace {

using Clock = std::chrono::steady_clock;

bool is_executable(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

// `exit 3`, `signal: killed`
Result<void> outcome_of(const sys::ExitStatus& status) {
  if (status.success()) return {};
  return Error(Errc::kPlugin, status.signal == 0 ? cat("exit ", status.exit_code) : status.text());
}

}  // namespace

Result<std::string> find_handler(const std::string& name,
                                 const std::vector<std::string>& environment) {
  if (name.find('/') != std::string::npos) return name;
  std::string folders = sys::variable(environment, "PATH");
  if (folders.empty()) folders = "/bin:/usr/bin";
  for (const std::string_view folder : split(folders, ':')) {
    std::string path = cat(folder.empty() ? "." : folder, "/", name);
    if (is_executable(path)) return path;
  }
  return Error(Errc::kNotFound, cat(name, ": not found in PATH (", folders, ")"));
}

Result<sys::Child> Handler::start(const HandlerCall& call) const {
  MNET_TRY(auto&& path, find_handler(call.handler, call.environment));
  sys::Program program{
      .path = path, .env = call.environment, .args = call.args, .shares_output = true};
  auto child = sys::Child::spawn(program);
  if (child || child.error().os_errno() != ENOEXEC) return child;
  program.path = "/bin/sh";
  program.args.insert(program.args.begin(), path);
  return sys::Child::spawn(program);
}

aio::Task<void> Handler::run(HandlerCall call) {
  MNET_CO_TRY(auto&& child, start(call));
  child_ = std::move(child);
  auto ended = co_await await_end_aloud(call);
  if (!ended) {
    const bool is_late = ended.error().code() == Errc::kTimeout;
    auto made_to_end =
        co_await aio::shielded(end(is_late ? settings_.after_timeout : settings_.after_cancel));
    child_.reset();
    if (is_late) co_return Error(Errc::kTimeout, cat("timeout after ", call.timeout.count(), " s"));
    co_return ended;
  }
  const auto status = child_->reap();
  child_.reset();
  co_return outcome_of(status.value_or(sys::ExitStatus{.exit_code = 255}));
}

void Handler::kill() const {
  if (child_) child_->signal_group(SIGKILL);
}

aio::Task<void> Handler::await_end(aio::Deadline deadline) {
  aio::Readable pidfd(co_await aio::asio::this_coro::executor, child_->pidfd());
  co_return co_await aio::with_deadline(pidfd.wait(), deadline);
}

aio::Task<void> Handler::await_end_aloud(HandlerCall call) {
  const auto began = Clock::now();
  const auto deadline = call.timeout.count() == 0 ? aio::kNoDeadline : began + call.timeout;
  auto word = settings_.first_word;
  for (;;) {
    auto ended = co_await await_end(std::min(deadline, began + word));
    const bool is_late = !ended && ended.error().code() == Errc::kTimeout;
    if (!is_late || Clock::now() >= deadline) co_return ended;
    call.still_runs(std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - began));
    word *= 2;
  }
}

aio::Task<void> Handler::end(std::chrono::milliseconds grace) {
  child_->signal_group(SIGTERM);
  auto ended = co_await await_end(Clock::now() + grace);
  if (!ended) {
    child_->signal_group(SIGKILL);
    ended = co_await await_end(aio::kNoDeadline);
  }
  co_return ended;
}

}  // namespace mnet::kube_watch
