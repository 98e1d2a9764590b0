#include "sys/mount_namespace.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <linux/openat2.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/fd.h"

namespace mnet::sys {

Result<UniqueFd> open_mount_namespace(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return Error::from_errno(errno, cat("open ", path));
  if (::ioctl(fd.get(), NS_GET_NSTYPE) != CLONE_NEWNS) {
    return Error(Errc::kInvalid, cat(path, ": not a mount namespace"));
  }
  return fd;
}

Result<void> look_in_mount_namespace(const std::string& path, const std::function<void()>& look) {
  MNET_TRY(auto&& target, open_mount_namespace(path));
  Result<void> entered;
  auto visit = [&entered, &look, fd = target.get(), &path] {
    // setns wants a root and working directory that no other thread shares.
    if (::unshare(CLONE_FS) != 0 || ::setns(fd, CLONE_NEWNS) != 0) {
      entered = Error::from_errno(errno, cat("setns ", path));
      return;
    }
    look();
  };
  try {
    std::thread(visit).join();
  } catch (const std::system_error& thrown) {  // the one way std::thread has to say EAGAIN
    return Error::from_errno(thrown.code().value(), "starting a thread");
  }
  return entered;
}

UniqueFd open_below(const UniqueFd& root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags) | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT;
  return UniqueFd(
      static_cast<int>(::syscall(SYS_openat2, root.get(), path.c_str(), &how, sizeof how)));
}

}  // namespace mnet::sys
