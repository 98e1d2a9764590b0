#include "aio/failpoint.h"

#ifdef MNET_FAILPOINTS

#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>

#include "aio/sleep.h"
#include "aio/task.h"
#include "base/durability.h"
#include "base/failpoint.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/file.h"

namespace mnet::aio {
namespace {

// Polls for the file: inotify would need its directory to exist first, and this is only for tests.
constexpr std::chrono::milliseconds kPoll{2};

Task<void> wait_for_file(std::string path) {
  MNET_CO_TRY_VOID(sys::replace_file(cat(path, ".here"), "", 0644, Durability::kInPlace));
  while (::access(path.c_str(), F_OK) != 0) {
    MNET_CO_TRY_VOID(co_await sleep_for(kPoll));
  }
  co_return Result<void>();
}

}  // namespace

Task<void> failpoint(std::string point) {
  FailAction action = fail_here(point);
  if (action.error) co_return *std::move(action.error);
  if (action.wait_for.empty()) co_return Result<void>();
  co_return co_await wait_for_file(std::move(action.wait_for));
}

}  // namespace mnet::aio

#endif
