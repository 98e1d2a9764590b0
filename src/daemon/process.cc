#include "daemon/process.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/system/error_code.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <memory>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "plugin/orphans.h"
#include "sys/fd.h"
#include "sys/signals.h"
#include "wire/wire.h"

namespace mnet::daemon {
namespace {

// A thousand connections, and four descriptors for each delegate.
constexpr rlim_t kDescriptors = 8192;

// Otherwise the next socket would become a standard stream.
void open_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) == -1 && errno == EBADF) {
      (void)::open("/dev/null", O_RDWR);  // NOLINT(android-cloexec-open): children keep 0 to 2
    }
  }
}

// All threads but one mostly wait for the disk. An arena of its own for each keeps 100 KiB and more
// that no other thread may use.
void share_one_arena() {
  ::mallopt(M_ARENA_MAX, 1);  // NOLINT(concurrency-mt-unsafe): there is no other thread yet
}

// Clients at once for which memory is given back entirely: 180 KB in all.
constexpr std::size_t kReserved = 1024;

// The C library raises this limit to the largest block that was ever freed, and then keeps the room
// of network definitions of a megabyte between small blocks that stay.
void give_back_large_blocks() {
  constexpr int kLarge = 128 << 10;
  ::mallopt(M_MMAP_THRESHOLD, kLarge);  // NOLINT(concurrency-mt-unsafe): as above
}

void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = std::min<rlim_t>(limit.rlim_max, kDescriptors);
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = wanted;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

// A process that a delegate left behind on purpose has a session of its own, whose leader also
// leads its process group. A delegate has a process group of its own in its daemon's session.
bool is_settled(const plugin::Process& process) { return ::getsid(process.pid) == process.group; }

Result<std::size_t> end_all_orphans() {
  MNET_TRY(auto&& found,
           plugin::list_orphans(wire::kRequestIdVariable, {"multus-daemon", "multus"}));
  std::erase_if(found, is_settled);
  if (found.empty()) return std::size_t{0};
  MNET_TRY_VOID(plugin::end_processes(found, std::chrono::seconds(5)));
  return found.size();
}

}  // namespace

void settle_process() {
  share_one_arena();
  give_back_large_blocks();
  open_standard_descriptors();
  sys::reset_signals();
  std::signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();
}

void reserve_descriptors(aio::asio::io_context& loop) {
  std::vector<aio::asio::posix::stream_descriptor> all;
  all.reserve(kReserved);
  while (all.size() < kReserved) {
    sys::UniqueFd fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!fd) return;
    boost::system::error_code failed;
    all.emplace_back(loop).assign(fd.get(), failed);
    if (failed) return;
    (void)fd.release();
  }
}

namespace {

// The C library keeps up to seven freed blocks of each small size for each thread, wherever they
// are, and malloc_trim() does not touch them. After a burst nearly each of them holds a page of its
// own. They are taken out here, and given back while others, from pages in use, fill their places.
void renew_kept_blocks() {
  using Blocks = std::vector<std::unique_ptr<std::byte[]>>;
  constexpr std::size_t kKept = 7, kSmallest = 24, kStep = 16, kLargest = 1032;
  constexpr std::size_t kAll = kKept * ((kLargest - kSmallest) / kStep + 1);
  Blocks kept, others;  // the others go first
  for (Blocks* blocks : {&kept, &others}) {
    blocks->reserve(kAll);
    for (std::size_t size = kSmallest; size <= kLargest; size += kStep) {
      for (std::size_t i = 0; i < kKept; ++i) {
        blocks->push_back(std::make_unique_for_overwrite<std::byte[]>(size));
      }
    }
  }
}

}  // namespace

void give_back_memory() {
  ::malloc_trim(0);  // what is free joins what is free beside it
  renew_kept_blocks();
  ::malloc_trim(0);
}

// NOLINTNEXTLINE(cppcoreguidelines-avoid-reference-coroutine-parameters): the pool outlives tasks.
aio::Task<void> end_orphans(aio::BlockingPool& pool, Log log) {
  auto ended = co_await pool.run([] { return end_all_orphans(); });
  if (!ended) {
    log.error("cannot end the delegates of an earlier daemon", ended.error());
  } else if (*ended > 0) {
    log.warning(
        cat("ended ", *ended, " processes that an earlier daemon's delegates left running"));
  }
  co_return Result<void>();
}

}  // namespace mnet::daemon
