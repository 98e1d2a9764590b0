// One running plugin: writes its stdin, reads its output, ends it when its time is up. Internal.
#pragma once

#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "aio/group.h"
#include "aio/readable.h"
#include "aio/task.h"
#include "plugin/plugin.h"
#include "sys/fd.h"
#include "sys/spawn.h"

namespace mnet::plugin {

class Conversation {
 public:
  // Uses all of `what` but world and environment.
  Conversation(const aio::asio::any_io_executor& executor, sys::Child child, Invocation what);

  // Ends when the child is reaped and its output read. The object must live until then.
  aio::Task<Output> run();

 private:
  enum class Stream : std::uint8_t { kOut, kErr };
  struct Channel {
    aio::asio::posix::stream_descriptor pipe;
    std::string text;
  };
  // Why the child did not end by itself.
  enum class Ended : std::uint8_t { kDeadline, kCancelled, kTooMuchOutput };

  Channel& channel(Stream stream) { return channels_[static_cast<std::size_t>(stream)]; }
  void feed_at_once();
  aio::Task<void> feed_rest();
  aio::Task<void> drain(Stream stream);
  bool read_available(Stream stream);
  aio::Task<void> end_child();
  aio::Task<void> finish_pumps();
  Result<Output> conclude(const sys::ExitStatus& status);
  Error too_much_output() const;

  sys::Child child_;
  aio::asio::posix::stream_descriptor stdin_;
  std::array<Channel, 2> channels_;
  aio::Readable exit_;
  aio::Group pumps_;
  Invocation what_;
  std::string_view unsent_;  // of the configuration
  std::optional<Ended> ended_;
  Stream overflowed_ = Stream::kOut;
};

}  // namespace mnet::plugin
