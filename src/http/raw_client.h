// For tests: a blocking client of a unix socket that sends exactly the bytes it is given.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "sys/fd.h"

namespace mnet::http {

class RawClient {
 public:
  explicit RawClient(const std::string& path) : fd_(connect_to(path)) {}

  bool connected() const { return static_cast<bool>(fd_); }

  // False if the peer no longer takes them.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  void end_sending() { ::shutdown(fd_.get(), SHUT_WR); }
  void close() { fd_.reset(); }

  // Everything until the peer closes; was_reset() tells how that ended.
  std::string read_all() {
    std::string out;
    while (true) {
      std::array<char, 4096> buffer;
      const ssize_t count = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
      if (count < 0) reset_ = true;
      if (count <= 0) return out;
      out.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }
  // Everything up to and including `end`.
  std::string read_until(std::string_view end) {
    std::string out;
    char byte = 0;
    while (!out.ends_with(end) && ::recv(fd_.get(), &byte, 1, 0) == 1) out += byte;
    return out;
  }
  bool was_reset() const { return reset_; }
  int fd() const { return fd_.get(); }

 private:
  static sys::UniqueFd connect_to(const std::string& path) {
    sys::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      fd.reset();
    }
    return fd;
  }

  sys::UniqueFd fd_;
  bool reset_ = false;
};

// Sends the request as given and returns the whole response.
inline std::string talk(const std::string& path, std::string_view request) {
  RawClient client(path);
  client.send(request);
  return client.read_all();
}

}  // namespace mnet::http
