#include "record.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "base/text.h"
#include "json/json.h"
#include "sys/environment.h"
#include "sys/fd.h"
#include "sys/file.h"

namespace mnet::fakes {
namespace {

// Without /proc, which a chroot need not have.
json::Array open_descriptors() {
  json::Array out;
  for (int fd = 0; fd < 1024; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) out.emplace_back(fd);
  }
  return out;
}

json::Array blocked_signals() {
  sigset_t mask;
  ::sigprocmask(SIG_SETMASK, nullptr, &mask);
  json::Array out;
  for (int signal = 1; signal < NSIG; ++signal) {
    if (::sigismember(&mask, signal) == 1) out.emplace_back(signal);
  }
  return out;
}

json::Array ignored_signals() {
  json::Array out;
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action{};
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
      out.emplace_back(signal);
    }
  }
  return out;
}

std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

void append_line(const std::string& path, const json::Object& line) {
  const sys::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  const std::string text = json::dump(line) + "\n";
  [[maybe_unused]] const auto written = ::write(fd.get(), text.data(), text.size());
}

}  // namespace

void record_call(const std::string& path, const Call& call) {
  std::error_code ignored;
  append_line(path, {{"command", call.command},
                     {"network", call.network},
                     {"argv", call.argv},
                     {"cwd", std::filesystem::current_path(ignored).string()},
                     {"env", sys::environment()},
                     {"stdin", to_base64(call.stdin_bytes)},
                     {"descriptors", open_descriptors()},
                     {"blocked_signals", blocked_signals()},
                     {"ignored_signals", ignored_signals()},
                     {"pid", ::getpid()},
                     {"group", ::getpgrp()},
                     {"time_ns", now_ns()}});
}

void record_end(const std::string& path, const std::string& command) {
  append_line(path,
              {{"ended", true}, {"command", command}, {"pid", ::getpid()}, {"time_ns", now_ns()}});
}

std::int64_t count_calls(const std::string& path, const std::string& command,
                         const std::string& network) {
  auto text = sys::read_file(path);
  if (!text) return 0;
  std::int64_t count = 0;
  for (const std::string_view line : split(*text, '\n')) {
    auto call = json::parse_object(line);
    if (!call || call->find("ended") != nullptr) continue;
    const json::Value* of_command = call->find("command");
    const json::Value* of_network = call->find("network");
    if (of_command != nullptr && *of_command == json::Value(command) && of_network != nullptr &&
        *of_network == json::Value(network)) {
      ++count;
    }
  }
  return count;
}

}  // namespace mnet::fakes
