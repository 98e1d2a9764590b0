// Fail points: named places where a test can make a program crash, fail or wait. Compiled out of
// release.
//
// The environment variable MULTUS_FAILPOINTS chooses, for example
//   MULTUS_FAILPOINTS='scratch-before-write=crash;reply-before-send=fail;delegate-after-run=wait:/tmp/go'
// crash: SIGKILL to ourselves, as a power cut would; fail: the step fails with an error;
// wait:<path>: stay there until <path> exists (the path plus ".here" is created on arrival, so that
// a test need not sleep).
// `<n>*` before the action (`2*fail`) lets the place be passed n-1 times first; it acts once.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace mnet {

// Every place there is, so that "kill -9 at any step" is a loop over this list. fail_here() of a
// name that is not in it is a bug and aborts.
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

// Those of the node tools, which have stories of their own.
inline constexpr std::array<std::string_view, 2> kNodeToolPoints = {
    "directory-before-rename",
    "directory-after-rename",
};

#ifdef MNET_FAILPOINTS

// Crashes here if told so, or yields the error it was told to yield. A wait is handed back as the
// path to wait for: only the caller knows how to wait without stopping the event loop
// (aio/failpoint.h). From any thread.
struct FailAction {
  std::optional<Error> error;
  std::string wait_for;
};
FailAction fail_here(std::string_view point);

// The same where a thread may block: it waits itself. Use the macro.
Result<void> fail_blocking(std::string_view point);

// `return`s the error of a point that is told to fail. Nothing at all in release.
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
