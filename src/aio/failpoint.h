// Fail points inside tasks (base/failpoint.h): a wait there does not stop the loop.
#pragma once

#include <string>

#include "aio/task.h"
#include "base/failpoint.h"

namespace mnet::aio {

#ifdef MNET_FAILPOINTS

// Crashes, fails or waits if that was chosen for `point`. A wait announces itself by creating
// `<path>.here` and ends when <path> exists, or with kCancelled when cancelled. Use the macro.
Task<void> failpoint(std::string point);

// `co_return`s what `answer` makes of the error of a point that was told to fail. Expands to
// nothing in release.
#define MNET_FAILPOINT_OR(point, answer)                                      \
  do {                                                                        \
    auto mnet_failpoint = co_await ::mnet::aio::failpoint(point);             \
    if (!mnet_failpoint) co_return answer(std::move(mnet_failpoint).error()); \
  } while (false)

#else

#define MNET_FAILPOINT_OR(point, answer) \
  do {                                   \
  } while (false)

#endif

// `co_return`s the error itself.
#define MNET_FAILPOINT(point) MNET_FAILPOINT_OR(point, )

}  // namespace mnet::aio
