#include "sys/netns.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "sys/fd.h"
#include "sys/mount_namespace.h"

namespace mnet::sys {
namespace {

thread_local bool astray = false;

constexpr const char* kOwn = "/proc/thread-self/ns/net";

UniqueFd open_only(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

// 03, 7: runtimes say /var/run, and our image may lack the link.
std::string below_run(const std::string& path) {
  constexpr std::string_view kVarRun = "/var/run/";
  if (!path.starts_with(kVarRun)) return {};
  return cat("/run/", path.substr(kVarRun.size()));
}

bool is_network_namespace(int fd) {
  struct statfs file_system{};
  if (::fstatfs(fd, &file_system) != 0) return false;
  if (file_system.f_type != NSFS_MAGIC) return false;
  return ::ioctl(fd, NS_GET_NSTYPE) == CLONE_NEWNET;
}

}  // namespace

Result<NetNs> NetNs::open(const std::string& path) {
  UniqueFd fd = open_only(path);
  int why = errno;
  if (const std::string other = below_run(path); !fd && why == ENOENT && !other.empty()) {
    fd = open_only(other);
    why = errno;
  }
  if (!fd) return Error::from_errno(why, cat("open ", path));
  return of(std::move(fd), path);
}

Result<NetNs> NetNs::open_below(const std::string& root, const std::string& path) {
  const UniqueFd top(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!top) return Error::from_errno(errno, cat("open ", root));
  UniqueFd fd = sys::open_below(top, path, O_RDONLY | O_NONBLOCK);
  if (!fd) return Error::from_errno(errno, cat("open ", path, " below ", root));
  return of(std::move(fd), path);
}

Result<NetNs> NetNs::own() {
  UniqueFd fd = open_only(kOwn);
  if (!fd) return Error::from_errno(errno, cat("open ", kOwn));
  return of(std::move(fd), kOwn);
}

Result<NetNs> NetNs::of(UniqueFd fd, const std::string& path) {
  if (!is_network_namespace(fd.get())) {
    return Error(Errc::kInvalid, cat(path, ": not a network namespace"));
  }
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return Error::from_errno(errno, cat("stat ", path));

  NetNs out;
  out.fd_ = std::move(fd);
  out.id_ = {status.st_dev, status.st_ino};
  return out;
}

Result<ScopedNetNs> ScopedNetNs::enter(const NetNs& target) {
  UniqueFd way_back = open_only(kOwn);
  if (!way_back) return Error::from_errno(errno, cat("open ", kOwn));
  if (::setns(target.fd(), CLONE_NEWNET) != 0) return Error::from_errno(errno, "setns");
  return ScopedNetNs(std::move(way_back));
}

bool ScopedNetNs::leave() {
  if (!home_) return true;
  const bool back = ::setns(home_.get(), CLONE_NEWNET) == 0;
  home_.reset();
  if (!back) astray = true;
  return back;
}

ScopedNetNs::~ScopedNetNs() { leave(); }

bool this_thread_is_astray() { return astray; }
void mark_this_thread_astray() { astray = true; }

}  // namespace mnet::sys
