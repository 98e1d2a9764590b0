#include "go_reader.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/try.h"
#include "sys/fd.h"

namespace mnet::readers {
namespace {

Error ended() { return Error(Errc::kIo, "the Go reader has ended"); }

Result<void> write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return ended();
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<std::string> read_exactly(int fd, std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < size;) {
    const ssize_t count = ::read(fd, bytes.data() + at, size - at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return ended();
    at += static_cast<std::size_t>(count);
  }
  return bytes;
}

std::string big_endian(std::uint32_t number) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift & 0xff);
  return out;
}

std::uint32_t from_big_endian(const std::string& bytes) {
  std::uint32_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

}  // namespace

GoReader::GoReader(pid_t pid, sys::UniqueFd requests, sys::UniqueFd answers)
    : pid_(pid), requests_(std::move(requests)), answers_(std::move(answers)) {}

Result<GoReader> GoReader::start(const std::string& program) {
  int in[2], out[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) {
    return Error::from_errno(errno, "pipe");
  }
  const sys::UniqueFd its_in(in[0]), its_out(out[1]);
  sys::UniqueFd requests(in[1]), answers(out[0]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, its_in.get(), 0);
  ::posix_spawn_file_actions_adddup2(&actions, its_out.get(), 1);
  char* const argv[] = {const_cast<char*>(program.c_str()), nullptr};
  pid_t pid = 0;
  const int failed = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, argv, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return Error::from_errno(failed, program);
  return GoReader(pid, std::move(requests), std::move(answers));
}

GoReader::~GoReader() {
  if (!requests_) return;  // moved from
  requests_ = {};
  ::waitpid(pid_, nullptr, 0);
}

Result<Reading> GoReader::read(char kind, std::string_view text) {
  const std::string head = kind + big_endian(static_cast<std::uint32_t>(text.size()));
  MNET_TRY_VOID(write_all(requests_.get(), head));
  MNET_TRY_VOID(write_all(requests_.get(), text));
  MNET_TRY(const auto& size, read_exactly(answers_.get(), 4));
  MNET_TRY(const auto& answer, read_exactly(answers_.get(), from_big_endian(size)));
  if (answer.size() < 2) return Error(Errc::kProtocol, "the Go reader says nothing");
  return Reading{
      .is_refused = answer[1] != '+', .repeats_key = answer[0] == '~', .text = answer.substr(2)};
}

}  // namespace mnet::readers
