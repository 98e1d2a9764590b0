#include "plugin/conversation.h"

#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "aio/all.h"
#include "aio/cancel.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "plugin/failure.h"
#include "plugin/plugin.h"
#include "sys/spawn.h"

namespace mnet::plugin {
namespace {

using Clock = std::chrono::steady_clock;
using Pipe = aio::asio::posix::stream_descriptor;

// All that the plugin wrote is in the pipes when it ends. If a grandchild keeps a pipe open, we
// wait no longer than this.
constexpr std::chrono::milliseconds kPipeGrace{200};
// The most that is read in one go, so that a plugin that floods us does not hold up the others.
constexpr std::size_t kMostAtOnce = 256u << 10;

}  // namespace

Conversation::Conversation(const aio::asio::any_io_executor& executor, sys::Child child,
                           Invocation what)
    : child_(std::move(child)),
      stdin_(executor, child_.take_stdin().release()),
      channels_{Channel{Pipe(executor, child_.take_stdout().release()), {}},
                Channel{Pipe(executor, child_.take_stderr().release()), {}}},
      exit_(executor, child_.pidfd()),
      pumps_(executor, Log()),
      what_(std::move(what)),
      unsent_(what_.config) {}

aio::Task<Output> Conversation::run() {
  feed_at_once();
  if (stdin_.is_open()) pumps_.spawn("stdin", feed_rest());
  pumps_.spawn("stdout", drain(Stream::kOut));
  pumps_.spawn("stderr", drain(Stream::kErr));

  auto waited = co_await aio::with_deadline(exit_.wait(), what_.deadline);
  if (!waited) {
    if (!ended_) {
      ended_ = waited.error().code() == Errc::kTimeout ? Ended::kDeadline : Ended::kCancelled;
    }
    // The canceller gets its answer only when nothing of the plugin runs any more.
    MNET_CO_TRY_VOID(co_await aio::shielded(end_child()));
  }
  // What is left of the group ends with a plugin that we ended. Before reap(), which frees the
  // number of the group.
  if (ended_) child_.signal_group(SIGKILL);
  const std::optional<sys::ExitStatus> status = child_.reap();
  if (!status) co_return Error(Errc::kBug, "a child that has ended cannot be reaped");
  MNET_CO_TRY_VOID(co_await aio::shielded(finish_pumps()));
  co_return conclude(*status);
}

// Most configurations fit into the pipe; then nothing has to wait.
void Conversation::feed_at_once() {
  while (!unsent_.empty()) {
    const ssize_t count = ::write(stdin_.native_handle(), unsent_.data(), unsent_.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count < 0) break;  // EPIPE: a plugin need not read its configuration
    unsent_.remove_prefix(static_cast<std::size_t>(count));
  }
  unsent_ = {};
  std::string().swap(what_.config);  // the plugin may run for minutes
  boost::system::error_code ignored;
  stdin_.close(ignored);
}

aio::Task<void> Conversation::feed_rest() {
  while (stdin_.is_open()) {
    auto [failed] = co_await stdin_.async_wait(Pipe::wait_write, aio::kAsValue);
    if (failed) co_return aio::cancelled_error();
    feed_at_once();
  }
  co_return Result<void>();
}

aio::Task<void> Conversation::drain(Stream stream) {
  for (;;) {
    auto [failed] = co_await channel(stream).pipe.async_wait(Pipe::wait_read, aio::kAsValue);
    if (failed) co_return aio::cancelled_error();
    const bool more = read_available(stream);
    if (!more) co_return Result<void>();
  }
}

// False if nothing more is to be read: end of file, or too much output.
bool Conversation::read_available(Stream stream) {
  Channel& from = channel(stream);
  char buffer[16u << 10];
  for (std::size_t taken = 0; taken < kMostAtOnce;) {
    const ssize_t count = ::read(from.pipe.native_handle(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return true;
    if (count <= 0) return false;
    from.text.append(buffer, static_cast<std::size_t>(count));
    taken += static_cast<std::size_t>(count);
    if (from.text.size() > what_.max_output) {
      from.text.resize(what_.max_output);
      ended_ = Ended::kTooMuchOutput;
      overflowed_ = stream;
      child_.signal_group(SIGKILL);
      return false;
    }
  }
  return true;
}

aio::Task<void> Conversation::end_child() {
  if (what_.grace > what_.grace.zero()) {
    child_.signal_group(SIGTERM);
    auto obeyed = co_await aio::with_deadline(exit_.wait(), Clock::now() + what_.grace);
    if (obeyed) co_return obeyed;
  }
  child_.signal_group(SIGKILL);
  co_return co_await exit_.wait();
}

aio::Task<void> Conversation::finish_pumps() {
  auto ended = co_await pumps_.join(Clock::now() + kPipeGrace);
  if (ended) co_return ended;
  pumps_.cancel();
  co_return co_await pumps_.join();
}

Result<Output> Conversation::conclude(const sys::ExitStatus& status) {
  Output output{std::move(channel(Stream::kOut).text), std::move(channel(Stream::kErr).text)};
  const std::string known = what_.ended ? what_.ended(status) : std::string();
  if (!ended_ && status.success()) return output;
  if (what_.failed && !output.err.empty()) what_.failed(output.err);
  if (!ended_) return failure(Errc::kPlugin, {status.text(), known}, output.out, output.err);
  // 01, 7.3: this text, whichever signal it obeyed.
  const std::string killed = sys::ExitStatus{.signal = SIGKILL}.text();
  switch (*ended_) {
    case Ended::kTooMuchOutput:
      return too_much_output();
    case Ended::kDeadline:
      return failure(Errc::kTimeout, {killed, "it ran past its time limit"}, output.out,
                     output.err);
    case Ended::kCancelled:
      return failure(Errc::kCancelled, {killed, "it was cancelled"}, output.out, output.err);
  }
  return Error(Errc::kBug, "no such ending");
}

Error Conversation::too_much_output() const {
  const std::string_view name = overflowed_ == Stream::kOut ? "stdout" : "stderr";
  return Error::from_object(
      Errc::kPlugin,
      {0, cat("netplugin failed: it wrote more than ", what_.max_output, " bytes to ", name), ""});
}

}  // namespace mnet::plugin
