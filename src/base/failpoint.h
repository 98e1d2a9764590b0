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

#include "base/result.h"

namespace mnet {

// Every place there is, so that "kill -9 at any step" is a loop over this list. fail_here() of a
// name that is not in it is a bug and aborts.
inline constexpr std::array<std::string_view, 14> kFailPoints = {
    "request-before-admission", "request-after-admission",   "scratch-before-write",
    "scratch-after-write",      "delegate-before-run",       "delegate-after-start",
    "delegate-after-run",       "result-cache-before-write", "result-cache-after-write",
    "scratch-before-remove",    "scratch-after-remove",      "sync-before-reply",
    "reply-before-send",        "reply-after-send",
};

#ifdef MNET_FAILPOINTS

// Crashes here if told so, or yields the error it was told to yield. A wait is handed back as the
// path to wait for: only the caller knows how to wait without stopping the event loop
// (aio/failpoint.h).
struct FailAction {
  std::optional<Error> error;
  std::string wait_for;
};
FailAction fail_here(std::string_view point);

#else

struct FailAction {
  std::optional<Error> error;
  std::string wait_for;
};
inline FailAction fail_here(std::string_view) { return {}; }

#endif

}  // namespace mnet
