// Speaks rtnetlink on one socket: requests that are acknowledged, and dumps. Knows nothing of what
// the messages say. Inside use.
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

// What a message is made of has the layout of the kernel's headers; it is copied in and out, never
// pointed into.
template <typename T>
  requires std::is_trivially_copyable_v<T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// The front of `bytes` as a T; none if they are too short.
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

// All up to the first that does not fit. The views point into `bytes`.
std::vector<Attribute> attributes_in(std::string_view bytes);
void append_attribute(std::string& message, std::uint16_t type, std::string_view bytes);
// `length` rounded up to where the next attribute or message may begin.
std::size_t aligned(std::size_t length);

class Netlink {
 public:
  static Result<Netlink> open_in(const sys::NetNs& target);

  // Sends `body` as a message of `type` and waits for the kernel's yes or no: its errno, and its
  // own words where it has some.
  Result<void> ask(std::uint16_t type, std::uint16_t flags, std::string_view body);
  // Hands every message of a dump to `visit`, without its header. If the kernel says that what it
  // listed changed meanwhile, kUnavailable: dump again.
  Result<void> dump(std::uint16_t type, std::string_view body,
                    const std::function<void(std::string_view)>& visit);

  const sys::UniqueFd& fd() const { return fd_; }

 private:
  explicit Netlink(sys::UniqueFd fd) : fd_(std::move(fd)) {}

  Result<void> send(std::uint16_t type, std::uint16_t flags, std::string_view body);
  // What one datagram of the kernel holds.
  Result<std::string_view> receive();

  sys::UniqueFd fd_;
  std::uint32_t sequence_ = 0;
  std::string buffer_;
};

}  // namespace mnet::rtnl
