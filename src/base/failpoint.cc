#include "base/failpoint.h"

#include <signal.h>

#include <functional>
#include <optional>
#include <utility>

#include "base/error.h"

#ifdef MNET_FAILPOINTS

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/result.h"
#include "base/text.h"

namespace mnet {
namespace {

struct Plan {
  int passes_left = 0;
  std::string action;
};

// Read once: the environment of a program does not change while it runs. A plan that acted is
// erased.
std::map<std::string, Plan, std::less<>>& plans() {
  static std::map<std::string, Plan, std::less<>> read = [] {
    std::map<std::string, Plan, std::less<>> out;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no thread of ours changes the environment
    const char* text = std::getenv("MULTUS_FAILPOINTS");
    if (text == nullptr) return out;
    for (const std::string_view entry : split(text, ';')) {
      const std::size_t at = entry.find('=');
      if (at == std::string_view::npos) continue;
      std::string_view action = entry.substr(at + 1);
      Plan plan;
      if (const std::size_t star = action.find('*'); star != std::string_view::npos) {
        std::from_chars(action.begin(), action.begin() + star, plan.passes_left);
        --plan.passes_left;
        action.remove_prefix(star + 1);
      }
      plan.action = action;
      out.emplace(entry.substr(0, at), std::move(plan));
    }
    return out;
  }();
  return read;
}

}  // namespace

FailAction fail_here(std::string_view point) {
  const bool is_known = std::ranges::find(kFailPoints, point) != kFailPoints.end() ||
                        std::ranges::find(kNodeToolPoints, point) != kNodeToolPoints.end();
  if (!is_known) std::abort();
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const auto found = plans().find(point);
  if (found == plans().end()) return {};
  if (found->second.passes_left-- > 0) return {};
  const std::string action = found->second.action;
  plans().erase(found);

  if (action == "crash") std::raise(SIGKILL);
  if (action == "fail") return {Error(Errc::kIo, cat("fail point ", point)), ""};
  if (action.starts_with("wait:")) return {std::nullopt, action.substr(5)};
  std::abort();  // with an unknown action a test would pass without testing anything
}

Result<void> fail_blocking(std::string_view point) {
  FailAction action = fail_here(point);
  if (action.error) return *std::move(action.error);
  if (action.wait_for.empty()) return {};
  const std::string here = cat(action.wait_for, ".here");
  const int announced = ::open(here.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (announced < 0) return Error::from_errno(errno, cat("open ", here));
  ::close(announced);
  while (::access(action.wait_for.c_str(), F_OK) != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return {};
}

}  // namespace mnet

#endif
