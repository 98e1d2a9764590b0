// The life of the daemon: start-up order, its own readiness, signals, draining, exit code
// (03, 2.3, 2.4, 2.12).
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
#include "daemon/self_check.h"
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
  // The name for this daemon's own probes, if it has one.
  void open_own_name();
  void start_background();
  void copy_configuration();
  // Runs from the first delegate that might be started to a stop signal; an exit code if the daemon
  // must end.
  aio::asio::awaitable<std::optional<int>> serve();
  // Waits until it is true; false if a stop signal came first, or a reason to end.
  aio::asio::awaitable<bool> wait_until(const bool* fact);
  // The exit code after wait_until() was false.
  std::optional<int> ended_early() const;
  aio::Task<void> note_orphans_ended();
  aio::Task<void> give_memory_back();
  aio::Task<void> note_objects_read();
  aio::Task<void> note_primary_found();
  // Takes the name at once, or, while another daemon serves, as soon as this one can serve in its
  // place.
  aio::Task<void> take_name();
  bool could_serve() const;
  // What has become of the socket's name.
  sys::SocketFile::Name look_at_names();
  // Another daemon has taken it: what the owner of the name does ends; requests go on.
  void retire();
  void end_abandoned();
  void take_name_again();
  aio::asio::awaitable<std::optional<int>> publish_configuration();
  void withdraw_configuration();
  aio::asio::awaitable<std::optional<int>> await_own_readiness();
  // Ends the process itself, with `code`, if something does not end.
  aio::asio::awaitable<void> shut_down(int code);
  aio::asio::awaitable<void> serve_to_the_last(aio::Deadline deadline);
  // Whether waiting still has a point: no further signal and no other daemon has come.
  bool may_stay() const;
  aio::asio::awaitable<void> stay_until(aio::Deadline end);
  aio::asio::awaitable<bool> finish_requests(aio::Deadline deadline);
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
  std::string own_path_;  // for the probes of this pod; empty: there is none
  std::optional<sys::SocketFile> socket_, own_socket_;
  SelfCheck self_check_;
  std::optional<metrics::Server> metrics_server_;
  std::optional<nodeconf::Manager> manager_;  // of 00-multus.conf; none if it is the user's own
  std::optional<Error> manager_failure_, name_failure_;
  bool own_name_failed_ = false;
  int signals_seen_ = 0;
  aio::Event stop_, hurry_;
  aio::Notifier change_;  // of anything that serve() or shut_down() waits for
  bool orphans_ended_ = false;
  bool has_name_ = false;
  bool objects_read_ = false;
  bool primary_found_ = false;
  bool was_ready_ = false;
  aio::Group replays_;
  aio::Group owners_;  // what only the owner of the socket's name does
  aio::Group background_;
};

}  // namespace mnet::daemon
