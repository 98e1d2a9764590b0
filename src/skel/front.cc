#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "skel/skel.h"
#include "sys/write_all.h"

namespace mnet::skel {
namespace {

// A socket with number 2 would receive our log lines. O_PATH: reading and writing fail as on a
// closed descriptor, and /dev is not needed.
void hold_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    [[maybe_unused]] const int holder = ::open("/", O_PATH | O_CLOEXEC);  // the lowest free: fd
  }
}

std::optional<std::string> variable(std::string_view name) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a plugin program has one thread here and sets nothing
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

Result<std::string> read_all_of_stdin() {
  // Small: each page costs a fault when it is first touched, and most configurations fit.
  char chunk[4u << 10];
  std::string bytes;
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error::from_errno(errno, "read /dev/stdin");
    if (got == 0) return bytes;
    bytes.append(chunk, static_cast<std::size_t>(got));
    if (bytes.size() > kMaxStdin) {
      return Error(Errc::kInvalid, cat("more than ", kMaxStdin, " bytes"));
    }
  }
}

}  // namespace

Front Front::of_process() {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that left is an error to report, not our death
  hold_standard_descriptors();
  return {
      .env = variable,
      .read_stdin = read_all_of_stdin,
      .write_stdout =
          [](std::string_view bytes) {
            return sys::write_all(STDOUT_FILENO, bytes, "/dev/stdout");
          },
      .write_stderr =
          [](std::string_view bytes) {
            // A failure to write there cannot be reported anywhere.
            [[maybe_unused]] const auto written =
                sys::write_all(STDERR_FILENO, bytes, "/dev/stderr");
          },
  };
}

}  // namespace mnet::skel
