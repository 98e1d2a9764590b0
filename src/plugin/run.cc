#include <sys/types.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "aio/cancel.h"
#include "aio/group.h"
#include "aio/readable.h"
#include "aio/sleep.h"
#include "aio/together.h"
#include "base/text.h"
#include "plugin/failure.h"
#include "plugin/plugin.h"
#include "sys/mount_namespace.h"
#include "sys/spawn.h"

namespace mnet::plugin {
namespace {

using Clock = std::chrono::steady_clock;
using Pipe = aio::asio::posix::stream_descriptor;

constexpr int kBusyAttempts = 6;
constexpr std::chrono::seconds kBusyPause{1};
constexpr std::chrono::seconds kTermGrace{5};
// What the plugin wrote is in the pipe when it ends; a grandchild that keeps the pipe open gets no
// longer than this.
constexpr std::chrono::milliseconds kPipeGrace{200};

// One running plugin: feeds it, listens to it, waits for its end.
class Conversation {
 public:
  Conversation(aio::asio::any_io_executor executor, sys::Child child, const Invocation& what)
      : child_(std::move(child)),
        stdin_(executor, child_.take_stdin().release()),
        stdout_(executor, child_.take_stdout().release()),
        stderr_(executor, child_.take_stderr().release()),
        exit_(executor, child_.pidfd()),
        pumps_(executor, Log()),
        config_(what.config),
        max_output_(what.max_output) {}

  // Ends when the child is reaped and its output read.
  aio::Task<Output> run(aio::Deadline deadline) {
    pumps_.spawn("stdin", feed());
    pumps_.spawn("stdout", drain(stdout_, output_.out, "stdout"));
    pumps_.spawn("stderr", drain(stderr_, output_.err, "stderr"));
    auto waited = co_await aio::with_deadline(exit_.wait(), deadline);
    if (!waited) {
      // Whoever cancelled us gets its answer when nothing of the plugin runs any more.
      auto ended = co_await aio::shielded(end_child());
      if (!ended) co_return std::move(ended).error();
    }
    const std::optional<sys::ExitStatus> status = child_.reap();
    auto drained = co_await aio::shielded(finish_pumps());
    if (!drained) co_return std::move(drained).error();
    co_return conclude(*status, waited ? std::optional<Errc>() : waited.error().code());
  }

 private:
  aio::Task<void> feed() {
    std::string_view left = config_;
    while (!left.empty()) {
      auto [failed, count] =
          co_await stdin_.async_write_some(aio::asio::buffer(left), aio::kAsValue);
      // A plugin that does not read its configuration is none of our business (EPIPE).
      if (failed) break;
      left.remove_prefix(count);
    }
    boost::system::error_code ignored;
    stdin_.close(ignored);
    co_return Result<void>();
  }

  aio::Task<void> drain(Pipe& pipe, std::string& into, std::string_view name) {
    std::array<char, 4096> buffer{};
    for (;;) {
      auto [failed, count] =
          co_await pipe.async_read_some(aio::asio::buffer(buffer), aio::kAsValue);
      if (failed) co_return Result<void>();
      if (into.size() + count > max_output_) {
        overflow_ = name;
        child_.signal_group(SIGKILL);
        co_return Result<void>();
      }
      into.append(buffer.data(), count);
    }
  }

  aio::Task<void> end_child() {
    child_.signal_group(SIGTERM);
    auto obeyed = co_await aio::with_deadline(exit_.wait(), Clock::now() + kTermGrace);
    // Its children may have lived on; the group's number is still ours until reap().
    child_.signal_group(SIGKILL);
    if (obeyed) co_return Result<void>();
    auto killed = co_await exit_.wait();
    co_return killed;
  }

  aio::Task<void> finish_pumps() {
    auto ended = co_await pumps_.join(Clock::now() + kPipeGrace);
    if (ended) co_return Result<void>();
    pumps_.cancel();
    auto cut = co_await pumps_.join();
    co_return cut;
  }

  Result<Output> conclude(const sys::ExitStatus& status, std::optional<Errc> ended_by_us) {
    if (!overflow_.empty()) {
      return Error::from_object(
          Errc::kPlugin,
          {0, cat("netplugin wrote more than ", max_output_, " bytes to ", overflow_), ""});
    }
    if (ended_by_us == Errc::kTimeout) {
      return failure(Errc::kTimeout, "signal: killed (it ran past its time limit)", output_.out,
                     output_.err);
    }
    if (ended_by_us)
      return failure(Errc::kCancelled, "signal: killed (cancelled)", output_.out, output_.err);
    if (!status.success()) return failure(Errc::kPlugin, status.text(), output_.out, output_.err);
    return std::move(output_);
  }

  sys::Child child_;
  Pipe stdin_, stdout_, stderr_;
  aio::Readable exit_;
  aio::Group pumps_;
  std::string config_;
  std::size_t max_output_;
  Output output_;
  std::string_view overflow_;
};

Result<sys::Child> spawn_once(const Invocation& what) {
  sys::Program program{.path = what.binary, .env = what.env, .root = what.world.root};
  sys::UniqueFd mounts;
  if (!what.world.mount_namespace.empty()) {
    auto opened = sys::open_mount_namespace(what.world.mount_namespace);
    if (!opened) return std::move(opened).error();
    mounts = *std::move(opened);
    program.mount_namespace = mounts.get();
  }
  return sys::Child::spawn(program);
}

// "Text file busy": somebody is still writing the executable (01, 7.3).
aio::Task<sys::Child> spawn(Invocation what) {
  for (int attempt = 1;; ++attempt) {
    auto child = spawn_once(what);
    if (child || child.error().os_errno() != ETXTBSY || attempt == kBusyAttempts) co_return child;
    auto slept = co_await aio::sleep_for(kBusyPause);
    if (!slept) co_return std::move(slept).error();
  }
}

}  // namespace

aio::Task<Output> run(Invocation what) {
  const auto executor = co_await aio::asio::this_coro::executor;
  auto child = co_await spawn(what);
  if (!child) {
    const Error& error = child.error();
    if (error.code() == Errc::kCancelled)
      co_return failure(Errc::kCancelled, "context canceled", "", "");
    co_return failure(Errc::kPlugin, error.text(), "", "");
  }
  if (what.started) what.started(child->pid());
  Conversation conversation(executor, *std::move(child), what);
  auto output = co_await conversation.run(what.deadline);
  co_return output;
}

}  // namespace mnet::plugin
