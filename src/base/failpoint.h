// Fail points: named places where a test can make a program crash, fail or wait. Release builds
// contain none.
//
// The environment variable MULTUS_FAILPOINTS says what happens where, for example
//   MULTUS_FAILPOINTS='scratch-before-write=crash;reply-before-send=fail;delegate-after-run=wait:/tmp/go'
// crash: the process kills itself with SIGKILL, which is as abrupt as a power cut.
// fail: the step fails with an error.
// wait:<path>: the step waits until <path> exists. It first creates `<path>.here`, so that a test
// knows of its arrival without sleeping.
// Each acts once. `<n>*` before the action (`2*fail`) lets the place be passed n-1 times first.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace mnet {

// All fail points of the daemon and its core, so that a test of "kill -9 at any step" is a loop
// over this list. fail_here() aborts on a name that is in neither list.
inline constexpr std::array<std::string_view, 25> kFailPoints = {
    "request-before-admission",  "request-after-admission",    "scratch-before-write",
    "scratch-after-write",       "record-before-write",        "record-after-write",
    "delegate-before-run",       "delegate-after-start",       "delegate-after-run",
    "result-cache-before-write", "result-cache-after-write",   "sync-before-reply",
    "sync-after-results",        "result-cache-before-remove", "result-cache-after-remove",
    "record-before-remove",      "record-after-remove",        "scratch-before-remove",
    "scratch-after-remove",      "pending-before-remove",      "pending-after-remove",
    "pending-before-set-aside",  "pending-after-set-aside",    "reply-before-send",
    "reply-after-send",
};

// Those of the node tools, which have tests of their own.
inline constexpr std::array<std::string_view, 2> kNodeToolPoints = {
    "directory-before-rename",
    "directory-after-rename",
};

#ifdef MNET_FAILPOINTS

// Crashes if that was chosen for `point`, or yields the chosen error. For a wait it yields the path
// to wait for: only the caller knows how to wait without stopping the event loop (aio/failpoint.h).
// May be called from any thread.
struct FailAction {
  std::optional<Error> error;
  std::string wait_for;
};
FailAction fail_here(std::string_view point);

// The same for a thread that may block: it does the waiting itself. Use the macro.
Result<void> fail_blocking(std::string_view point);

// `return`s the error of a point that was told to fail. Expands to nothing in release.
#define MNET_FAIL_BLOCKING(point)                                  \
  do {                                                             \
    auto mnet_failpoint = ::mnet::fail_blocking(point);            \
    if (!mnet_failpoint) return std::move(mnet_failpoint).error(); \
  } while (false)

#else

struct FailAction {
  std::optional<Error> error;
  std::string wait_for;
};
inline FailAction fail_here(std::string_view) { return {}; }

#define MNET_FAIL_BLOCKING(point) \
  do {                            \
  } while (false)

#endif

}  // namespace mnet
