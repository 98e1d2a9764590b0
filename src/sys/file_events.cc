#include "sys/file_events.h"

#include <sys/inotify.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"

namespace mnet::sys {
namespace {

void decode(const char* at, const char* end, FileEvents& into) {
  while (at < end) {
    inotify_event event;
    std::memcpy(&event, at, sizeof event);
    const char* name = at + sizeof event;
    at = name + event.len;
    if ((event.mask & IN_Q_OVERFLOW) != 0) {
      into.overflow = true;
      continue;
    }
    // The name is padded with NULs.
    into.events.push_back({event.wd, event.mask, std::string(name, ::strnlen(name, event.len))});
  }
}

}  // namespace

Result<Inotify> Inotify::make() {
  Inotify out;
  out.fd_.reset(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!out.fd_) return Error::from_errno(errno, "inotify_init");
  return out;
}

Result<int> Inotify::watch(const std::string& path, std::uint32_t mask) {
  const int watch = ::inotify_add_watch(fd_.get(), path.c_str(), mask);
  if (watch < 0) return Error::from_errno(errno, cat("inotify_add_watch ", path));
  return watch;
}

void Inotify::forget(int watch) { ::inotify_rm_watch(fd_.get(), watch); }

Result<FileEvents> Inotify::take() {
  FileEvents out;
  alignas(inotify_event) char buffer[16u << 10];
  for (;;) {
    const ssize_t got = ::read(fd_.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return out;
    if (got < 0) return Error::from_errno(errno, "read inotify");
    decode(buffer, buffer + got, out);
  }
}

}  // namespace mnet::sys
