// Speaks rtnetlink on one socket: requests that are acknowledged, and dumps. Does not know what the
// messages mean. Internal.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sys/fd.h"
#include "sys/netns.h"

namespace mnet::rtnl {

// The parts of a message have the layout of the kernel's structures. They are copied in and out,
// never accessed in place.
template <typename T>
  requires std::is_trivially_copyable_v<T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// The front of `bytes` as a T; none if there are too few bytes.
template <typename T>
  requires std::is_trivially_copyable_v<T>
std::optional<T> value_in(std::string_view bytes) {
  T value;
  if (bytes.size() < sizeof value) return std::nullopt;
  bytes.copy(reinterpret_cast<char*>(&value), sizeof value);
  return value;
}

struct Attribute {
  std::uint16_t type;  // without the flags for nesting and byte order
  std::string_view bytes;
};

// All attributes up to the first malformed one. The views point into `bytes`.
std::vector<Attribute> attributes_in(std::string_view bytes);
void append_attribute(std::string& message, std::uint16_t type, std::string_view bytes);
// `length` rounded up to where the next attribute or message may begin.
std::size_t aligned(std::size_t length);

class Netlink {
 public:
  static Result<Netlink> open_in(const sys::NetNs& target);

  // Sends `body` as a message of `type` and waits for the acknowledgement. The error has the
  // kernel's errno and, if there is one, its message.
  Result<void> ask(std::uint16_t type, std::uint16_t flags, std::string_view body);
  // Passes every message of a dump to `visit`, without its header. kUnavailable if the kernel says
  // that the table changed during the dump: dump again.
  Result<void> dump(std::uint16_t type, std::string_view body,
                    const std::function<void(std::string_view)>& visit);

  const sys::UniqueFd& fd() const { return fd_; }

 private:
  explicit Netlink(sys::UniqueFd fd) : fd_(std::move(fd)) {}

  Result<void> send(std::uint16_t type, std::uint16_t flags, std::string_view body);
  // The contents of the kernel's next datagram, in buffer_.
  Result<std::string_view> receive();

  sys::UniqueFd fd_;
  std::uint32_t sequence_ = 0;
  std::string buffer_;
};

}  // namespace mnet::rtnl
