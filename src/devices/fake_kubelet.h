// For tests: a gRPC server on a unix socket that says exactly what it is told, with blocking calls
// on a thread of its own.
#pragma once

#include <nghttp2/nghttp2.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "sys/fd.h"

namespace mnet::devices {

struct FakeAnswer {
  std::string message = {};
  int status = 0;  // of gRPC
  std::string why = {};
  std::optional<std::size_t> cut = {};       // hangs up after so many bytes of the body
  bool stalls = false;                       // after these bytes, instead of hanging up
  bool is_refused = false;                   // GOAWAY instead of an answer
  bool is_silent = false;                    // says nothing until the client leaves
  std::optional<std::uint32_t> length = {};  // the length that the body claims to have
  int flag = 0;                              // of the body: 1 says that it is compressed
};

class FakeKubelet {
 public:
  // Called on the server's thread.
  using Script = std::function<FakeAnswer(const std::string& method)>;

  // `greeting`: what it says to every client, instead of HTTP/2.
  FakeKubelet(const std::string& path, Script script, std::string greeting = {})
      : script_(std::move(script)), greeting_(std::move(greeting)) {
    listener_ = sys::UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    ::unlink(path.c_str());
    if (::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(listener_.get(), 64) != 0) {
      std::abort();
    }
    thread_ = std::thread([this] { accept_all(); });
  }
  FakeKubelet(const FakeKubelet&) = delete;
  FakeKubelet& operator=(const FakeKubelet&) = delete;
  ~FakeKubelet() {
    const std::uint64_t one = 1;
    (void)!::write(stop_.get(), &one, sizeof one);
    thread_.join();
  }

  std::size_t calls() const { return calls_; }

 private:
  struct Connection {
    FakeKubelet& kubelet;
    int fd;
    std::string method = {};
    std::optional<FakeAnswer> answer = {};
    std::string body = {};
    std::size_t sent = 0;
    bool hangs_up = false;
  };

  bool wait(int fd) const {
    std::array<pollfd, 2> waiting{pollfd{fd, POLLIN, 0}, pollfd{stop_.get(), POLLIN, 0}};
    ::poll(waiting.data(), waiting.size(), -1);
    return waiting[1].revents == 0;
  }

  void accept_all() {
    while (wait(listener_.get())) {
      const sys::UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!fd) continue;
      if (greeting_.empty()) {
        serve(fd.get());
      } else {
        send(fd.get(), greeting_);
      }
    }
  }

  void serve(int fd) {
    Connection connection{.kubelet = *this, .fd = fd};
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session* session = nullptr;
    nghttp2_session_server_new(&session, callbacks, &connection);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0);
    while (exchange(session, connection)) {
    }
    nghttp2_session_del(session);
  }

  // False when the connection is over.
  bool exchange(nghttp2_session* session, Connection& connection) const {
    const std::uint8_t* bytes = nullptr;
    ssize_t size = 0;
    while ((size = nghttp2_session_mem_send(session, &bytes)) > 0) {
      send(connection.fd, {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)});
    }
    if (connection.hangs_up || !wait(connection.fd)) return false;
    std::array<std::uint8_t, 4096> buffer;
    const ssize_t count = ::recv(connection.fd, buffer.data(), buffer.size(), 0);
    if (count <= 0) return false;
    return nghttp2_session_mem_recv(session, buffer.data(), static_cast<std::size_t>(count)) >= 0;
  }

  static void send(int fd, std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  static int on_header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                       std::uint8_t, void* user) {
    if (std::string_view(reinterpret_cast<const char*>(name), name_size) == ":path") {
      static_cast<Connection*>(user)->method.assign(reinterpret_cast<const char*>(value),
                                                    value_size);
    }
    return 0;
  }

  static int on_frame(nghttp2_session* session, const nghttp2_frame* frame, void* user) {
    auto& connection = *static_cast<Connection*>(user);
    const bool is_request = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
    if (!is_request || (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return 0;
    ++connection.kubelet.calls_;
    connection.answer = connection.kubelet.script_(connection.method);
    return connection.kubelet.reply(session, connection, frame->hd.stream_id);
  }

  static nghttp2_nv header(const std::string& name, const std::string& value) {
    const auto bytes = [](const std::string& text) {
      return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
    };
    return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
  }

  static int reply(nghttp2_session* session, Connection& connection, std::int32_t stream) {
    const FakeAnswer& answer = *connection.answer;
    if (answer.is_silent) return 0;
    if (answer.is_refused) {
      connection.hangs_up = true;
      return nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE, 0, NGHTTP2_NO_ERROR, nullptr, 0);
    }
    const std::string names[] = {":status", "content-type", "grpc-status", "grpc-message"};
    const std::string values[] = {"200", "application/grpc", std::to_string(answer.status),
                                  answer.why};
    if (answer.status != 0) {
      const std::array all{header(names[0], values[0]), header(names[1], values[1]),
                           header(names[2], values[2]), header(names[3], values[3])};
      return nghttp2_submit_response(session, stream, all.data(), all.size(), nullptr);
    }
    const auto size = answer.length.value_or(static_cast<std::uint32_t>(answer.message.size()));
    connection.body = std::string(1, static_cast<char>(answer.flag));
    for (int shift = 24; shift >= 0; shift -= 8)
      connection.body += static_cast<char>(size >> shift);
    connection.body += answer.message;
    const std::array head{header(names[0], values[0]), header(names[1], values[1])};
    nghttp2_data_provider body{};
    body.read_callback = read_body;
    return nghttp2_submit_response(session, stream, head.data(), head.size(), &body);
  }

  static ssize_t read_body(nghttp2_session* session, std::int32_t stream, std::uint8_t* buffer,
                           std::size_t size, std::uint32_t* flags, nghttp2_data_source*,
                           void* user) {
    auto& connection = *static_cast<Connection*>(user);
    const std::size_t end =
        std::min(connection.answer->cut.value_or(connection.body.size()), connection.body.size());
    const std::size_t count = std::min(size, end - connection.sent);
    std::memcpy(buffer, connection.body.data() + connection.sent, count);
    connection.sent += count;
    if (connection.sent < end) return static_cast<ssize_t>(count);
    if (connection.answer->cut) {
      connection.hangs_up = !connection.answer->stalls;
      *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
      return static_cast<ssize_t>(count);
    }
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    const std::string name = "grpc-status", value = "0";
    const nghttp2_nv trailer = header(name, value);
    nghttp2_submit_trailer(session, stream, &trailer, 1);
    return static_cast<ssize_t>(count);
  }

  const Script script_;
  const std::string greeting_;
  sys::UniqueFd listener_;
  sys::UniqueFd stop_{::eventfd(0, EFD_CLOEXEC)};
  std::atomic<std::size_t> calls_ = 0;
  std::thread thread_;
};

}  // namespace mnet::devices
