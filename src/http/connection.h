// One request on an accepted connection: reads it, calls the handler, answers, closes.
#pragma once

#include <boost/asio/generic/stream_protocol.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "http/http.h"
#include "http/message.h"
#include "http/watchdog.h"

namespace mnet::http {

using Socket = aio::asio::generic::stream_protocol::socket;

class Connection final : public Exchange, public std::enable_shared_from_this<Connection> {
 public:
  // The handler, limits and log must outlive it.
  Connection(Socket socket, const Handler& handler, const Limits& limits, const Log& log);

  // From the request to the end of its answer. The caller must hold the connection until this ends.
  aio::asio::awaitable<void> run();
  // After run(): the socket, if the client may send another request on it.
  std::optional<Socket> take_kept() { return std::exchange(kept_, std::nullopt); }

  // If the end of the headers has not arrived yet, it must arrive within `grace`. There is no other
  // request.
  void hurry(Limits::Time grace);
  // Closes the socket. The owner of run() then cancels that.
  void cut();

  const std::string& method() const override { return message_.head().method; }
  const std::string& path() const override { return path_; }
  std::optional<std::string> header(std::string_view name) const override;
  std::optional<std::uint64_t> content_length() const override {
    return message_.head().content_length;
  }
  bool is_chunked() const override { return message_.head().is_chunked; }
  aio::Task<std::string> read_body() override;
  bool client_gone() const override;
  void on_gone(std::function<void()> callback) override;
  std::optional<std::uint32_t> peer_uid() const override;
  std::string peer() const override;
  void on_sent(std::function<void()> callback) override { sent_ = std::move(callback); }

 private:
  enum class Input : std::uint8_t { kBytes, kEnd, kFailed, kTimeout };

  aio::asio::awaitable<Input> read_some();
  aio::asio::awaitable<bool> write_all(std::string head, std::string body);
  // False if there is no request to handle: then response_ is the refusal, or the connection closes
  // without an answer.
  aio::asio::awaitable<bool> read_head();
  bool accept_head();
  aio::Task<void> read_rest_of_body(aio::Deadline end);
  Result<bool> accept_body();
  Error body_failure(Input input);
  aio::asio::awaitable<bool> send_continue();
  void conclude(Result<Response>&& handled);
  void blame(const std::exception& defect);
  aio::asio::awaitable<void> answer();
  bool may_be_kept() const;
  aio::asio::awaitable<void> discard_rest();
  void empty_queue();
  Error refuse(int status, Error why);
  void close();
  void watch_peer();

  Socket socket_;
  const Handler& handler_;
  const Limits& limits_;
  const Log& log_;
  Watchdog watchdog_;
  aio::Deadline head_deadline_;

  Message message_{MessageKind::kRequest};
  std::string unread_;          // received, not yet taken by message_
  std::size_t head_bytes_ = 0;  // taken by message_ so far
  std::string path_;
  bool body_wanted_ = false;
  bool input_ended_ = false;
  bool cut_ = false;
  bool is_last_ = false;  // the server stops
  std::optional<Socket> kept_;
  // The server's own answer until the handler has ended, then the handler's. Behind a pointer,
  // because most open connections have none yet.
  std::unique_ptr<Response> response_;

  std::function<void()> gone_;
  std::function<void()> sent_;
  bool watching_ = false;
};

}  // namespace mnet::http
