#include "daemon/program.h"

#include <sys/types.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "base/text.h"
#include "base/version.h"
#include "daemon/command_line.h"
#include "daemon/config.h"
#include "daemon/daemon.h"
#include "daemon/logging.h"
#include "daemon/process.h"
#include "daemon/readiness.h"
#include "daemon/self_check.h"
#include "daemon/uninstall.h"
#include "handover/handover.h"
#include "http/http.h"
#include "sys/environment.h"
#include "sys/write_all.h"
#include "wire/wire.h"

namespace mnet::daemon {
namespace {

std::string absolute(const std::string& path) {
  std::error_code failed;
  const auto full = std::filesystem::absolute(path, failed);
  return failed ? path : full.string();
}

// Before anything is touched, a log file included.
bool is_root() {
  const uid_t uid = ::geteuid();
  if (uid == 0) return true;
  sys::print(STDERR_FILENO,
             cat("failed to run multus-daemon with root: operation not permitted, now "
                 "running in uid: ",
                 uid));
  return false;
}

// Asio gives a signal its default action back as the daemon goes; a late SIGTERM would then change
// an exit status that is decided.
sigset_t hold_signals() {
  sigset_t both;
  ::sigemptyset(&both);
  ::sigaddset(&both, SIGINT);
  ::sigaddset(&both, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &both, nullptr);
  return both;
}

std::string refusal(const http::Response& answer) {
  const std::string* why = http::find_header(answer.headers, kNotReadyHeader);
  return cat("status ", answer.status, why == nullptr ? "" : ": ", why == nullptr ? "" : *why);
}

Logging logging_of(const Config& config) {
  Logging logging = make_logging(config);
  for (const std::string& complaint : logging.complaints) sys::print(STDERR_FILENO, complaint);
  return logging;
}

void await_signal(const sigset_t& held) {
  int number = 0;
  ::sigwait(&held, &number);
}

int leave_node(const Config& config, bool pauses) {
  // Signals that are held from the start wait for us, even where we are process 1, for which a
  // default action means none: a signal that came with the last line would be lost.
  const std::optional<sigset_t> held = pauses ? std::optional(hold_signals()) : std::nullopt;
  const Logging logging = logging_of(config);
  const Uninstalled outcome = uninstall(config, logging.log);
  for (const std::string& line : outcome.done) sys::print(STDOUT_FILENO, line);
  for (const std::string& line : outcome.left) sys::print(STDERR_FILENO, cat("left: ", line));
  if (!outcome.left.empty()) return 1;
  if (held) await_signal(*held);
  return 0;
}

int serve(const CommandLine& line, Config config) {
  Logging logging = logging_of(config);
  for (const std::string& warning : line.warnings) logging.log.warning(warning);
  aio::asio::io_context loop(1);
  reserve_descriptors(loop);
  Daemon daemon(loop, std::move(config), std::move(logging));
  const auto code = aio::run(loop, daemon.run());
  (void)hold_signals();
  if (code) return *code;
  sys::print(STDERR_FILENO, cat("multus-daemon: ", code.error().text()));
  return 1;
}

// Of the daemon in the same pod; without a pod, of whichever serves.
std::string probed_socket(const Config& config) {
  const std::string path = wire::socket_path(config.socket_dir);
  const std::string own =
      handover::own_socket_path(path, sys::variable(sys::environment(), kPodUidVariable));
  return own.empty() ? path : own;
}

// Asks the running daemon; 0 if it says yes within 2 s, else 1 (03, 2.1).
int probe(const Config& config, const std::string& path) {
  http::ClientRequest request;
  request.target = cat("/", path);
  const auto answer =
      aio::run(http::request_unix(probed_socket(config), std::move(request),
                                  std::chrono::steady_clock::now() + std::chrono::seconds(2)));
  if (answer && answer->status == 200) return 0;
  sys::print(STDERR_FILENO, answer ? refusal(*answer) : answer.error().text());
  return 1;
}

}  // namespace

int run_program(const std::vector<std::string>& words) {
  settle_process();
  auto line = parse_command_line(words);
  if (!line) {
    sys::print(STDERR_FILENO, cat(line.error().text(), "\n", usage()));
    return 2;
  }
  if (line->wants_help) {
    sys::print(STDERR_FILENO, usage());
    return 0;
  }
  if (line->wants_version) {
    sys::print(STDOUT_FILENO, version_line("multus-daemon"));
    return 4;
  }
  line->config_file = absolute(line->config_file);
  auto config = load_config(line->config_file, line->overrides);
  if (!config && line->wants_check) {
    return report_bad_configuration(config.error(), line->as_json);
  }
  if (!config) {
    sys::print(STDERR_FILENO, cat("multus-daemon: ", config.error().text()));
    return 1;
  }
  if (!line->probe.empty()) return probe(*config, line->probe);
  if (!is_root()) return 3;
  if (line->wants_check) return run_self_check(*config, line->as_json);
  if (line->wants_uninstall) return leave_node(*config, line->pauses);
  return serve(*line, *std::move(config));
}

}  // namespace mnet::daemon
