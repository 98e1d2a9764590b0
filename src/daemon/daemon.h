// The life of the daemon: start-up order, self check, signals, draining, exit code (03, 2.3, 2.4,
// 2.12).
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "aio/event.h"
#include "aio/group.h"
#include "aio/task.h"
#include "daemon/assembly.h"
#include "daemon/config.h"
#include "daemon/logging.h"
#include "metrics/server.h"
#include "nodeconf/manager.h"
#include "sys/socket_file.h"

namespace mnet::daemon {

class Daemon {
 public:
  // From here on signals are handled.
  Daemon(aio::asio::io_context& loop, Config config, Logging logging);
  ~Daemon();

  // Until a signal, or until it cannot go on: the exit code.
  aio::Task<int> run();

 private:
  // An exit code if the daemon must not start.
  std::optional<int> refuse_to_start();
  void make_manager();
  std::optional<int> open_socket();
  void start_background();
  void copy_configuration();
  // From the first delegate that might be run to a stop signal; an exit code if it came to that.
  aio::asio::awaitable<std::optional<int>> serve();
  // Until it is true; false if a stop signal came first, or a reason to end.
  aio::asio::awaitable<bool> wait_until(const bool* fact);
  // The exit code where wait_until() said no.
  std::optional<int> ended_early() const;
  aio::Task<void> note_orphans_ended();
  aio::Task<void> give_memory_back();
  aio::Task<void> note_objects_read();
  aio::Task<void> note_primary_found();
  aio::asio::awaitable<std::optional<int>> publish_configuration();
  void withdraw_configuration();
  std::optional<int> publish_socket();
  aio::asio::awaitable<std::optional<int>> check_self();
  // Ends the process itself, with `code`, if something does not end.
  aio::asio::awaitable<void> shut_down(int code);
  aio::asio::awaitable<bool> finish_requests();
  aio::asio::awaitable<bool> write_last_events();

  void await_signal();
  void on_signal(int number);
  int fatal(int code, const Error& why) const;

  aio::asio::io_context& loop_;
  Logging logging_;
  Log log_;
  aio::asio::signal_set signals_;
  Assembly assembly_;
  std::string socket_path_;
  std::optional<sys::SocketFile> socket_;
  std::optional<metrics::Server> metrics_server_;
  std::optional<nodeconf::Manager> manager_;  // of 00-multus.conf; none if it is the user's own
  std::optional<Error> manager_failure_;
  int signals_seen_ = 0;
  aio::Event stop_, hurry_;
  aio::Notifier change_;  // a stop signal, or one of the next three
  bool orphans_ended_ = false;
  bool objects_read_ = false;
  bool primary_found_ = false;
  bool was_ready_ = false;
  aio::Group replays_, background_;
};

}  // namespace mnet::daemon
