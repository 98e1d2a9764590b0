// Fail points inside tasks (base/failpoint.h): waiting there does not stop the loop.
#pragma once

#include <string>

#include "aio/task.h"
#include "base/failpoint.h"

namespace mnet::aio {

#ifdef MNET_FAILPOINTS

// Crashes, fails or waits here if told so. A wait announces itself by creating `<path>.here`, ends
// when <path> exists, and with kCancelled when cancelled. Use the macro.
Task<void> failpoint(std::string point);

// `co_return`s what `answer` makes of the error of a point that is told to fail. Nothing at all in
// release.
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
