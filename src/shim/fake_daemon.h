// A daemon that does as it is told, on a real unix socket, in a thread of its own. For tests only.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/text.h"
#include "sys/fd.h"

namespace mnet::shim {

struct Reply {
  std::string bytes;          // of the whole response; empty: nothing is said
  std::size_t piece = 0;      // sent so many at a time; 0: all at once
  bool is_body_read = true;   // false: answered as soon as the head was read
  bool is_kept_open = false;  // until the client leaves or the daemon is destroyed
  int delay_ms = 0;           // before answering
};

inline std::string http(int status, std::string_view body) {
  return cat("HTTP/1.1 ", status, " Any\r\nContent-Length: ", body.size(),
             "\r\nConnection: close\r\n\r\n", body);
}

struct Seen {
  std::string path, head, body;
};

class FakeDaemon {
 public:
  using Script = std::map<std::string, std::vector<Reply>>;

  // Serves at once. `script` has the replies of each path in order, of which the last one is
  // repeated; a path that is not in it is answered 404, the probes 200.
  explicit FakeDaemon(const std::string& socket, Script script = {})
      : script_(std::move(script)), listener_(listen_at(socket)) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    stop_read_.reset(ends[0]);
    stop_write_.reset(ends[1]);
    thread_ = std::thread([this] { serve(); });
  }
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;
  ~FakeDaemon() {
    stop_write_.reset();
    thread_.join();
  }

  int connections() const {
    const std::lock_guard lock(mutex_);
    return connections_;
  }
  std::vector<Seen> seen(std::string_view path) const {
    const std::lock_guard lock(mutex_);
    std::vector<Seen> out;
    std::ranges::copy_if(seen_, std::back_inserter(out),
                         [&](const Seen& request) { return request.path == path; });
    return out;
  }

 private:
  static int listen_at(const std::string& path) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) std::abort();
    std::memcpy(address.sun_path, path.data(), path.size());
    if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) std::abort();
    if (::listen(fd, 128) != 0) std::abort();
    return fd;
  }

  // False when the daemon is to stop.
  bool wait_for(int fd, short events, int timeout_ms = -1) const {
    pollfd waited[2] = {{.fd = stop_read_.get(), .events = POLLIN, .revents = 0},
                        {.fd = fd, .events = events, .revents = 0}};
    ::poll(waited, fd < 0 ? 1 : 2, timeout_ms);
    return waited[0].revents == 0;
  }

  void serve() {
    while (wait_for(listener_.get(), POLLIN)) {
      const sys::UniqueFd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!peer) continue;
      {
        const std::lock_guard lock(mutex_);
        ++connections_;
      }
      while (serve_one(peer.get())) {
      }
    }
  }

  // Whether the client may send another request.
  bool serve_one(int peer) {
    std::string text;
    if (!read_until(peer, text, [&] { return text.contains("\r\n\r\n"); })) return false;
    const std::size_t head_size = text.find("\r\n\r\n") + 4;
    const std::string head = text.substr(0, head_size);
    const std::string path = head.substr(5, head.find(' ', 5) - 5);
    const Reply reply = next_reply(path);
    if (reply.is_body_read &&
        !read_until(peer, text, [&] { return text.size() >= head_size + length_in(head); })) {
      return false;
    }
    {
      const std::lock_guard lock(mutex_);
      seen_.push_back({path, head, text.substr(head_size)});
    }
    if (reply.delay_ms > 0 && !wait_for(-1, 0, reply.delay_ms)) return false;
    send_reply(peer, reply);
    if (reply.is_kept_open) wait_for(peer, POLLIN | POLLRDHUP);
    return is_probe(path) && reply.bytes.starts_with("HTTP/1.1") &&
           !reply.bytes.contains("Connection: close") && reply.bytes.ends_with("\r\n\r\n");
  }

  template <typename Done>
  bool read_until(int peer, std::string& text, Done done) const {
    char buffer[64 << 10];
    while (!done()) {
      if (!wait_for(peer, POLLIN)) return false;
      const ssize_t got = ::recv(peer, buffer, sizeof buffer, 0);
      if (got <= 0) return false;
      text.append(buffer, static_cast<std::size_t>(got));
    }
    return true;
  }

  static std::size_t length_in(const std::string& head) {
    constexpr std::string_view kName = "Content-Length: ";
    const std::size_t at = head.find(kName);
    return at == std::string::npos ? 0
                                   : std::strtoul(head.c_str() + at + kName.size(), nullptr, 10);
  }

  static bool is_probe(std::string_view path) { return path == "/readyz" || path == "/healthz"; }

  Reply next_reply(const std::string& path) {
    const auto found = script_.find(path);
    if (found == script_.end()) {
      return {.bytes = http(is_probe(path) ? 200 : 404, "")};
    }
    Reply reply = found->second.front();
    if (found->second.size() > 1) found->second.erase(found->second.begin());
    return reply;
  }

  static void send_reply(int peer, const Reply& reply) {
    std::string_view left = reply.bytes;
    while (!left.empty()) {
      const std::size_t count = reply.piece == 0 ? left.size() : std::min(reply.piece, left.size());
      const ssize_t sent = ::send(peer, left.data(), count, MSG_NOSIGNAL);
      if (sent <= 0) return;
      left.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  Script script_;
  sys::UniqueFd listener_, stop_read_, stop_write_;
  mutable std::mutex mutex_;
  std::vector<Seen> seen_;
  int connections_ = 0;
  std::thread thread_;
};

}  // namespace mnet::shim
