#include "nodeconf/changes.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "sys/directory_watch.h"

namespace mnet::nodeconf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLongestSettling = 10;

}  // namespace

Changes::Changes(std::vector<std::string> directories, std::chrono::milliseconds settle,
                 Report report)
    : directories_(std::move(directories)), settle_(settle), report_(std::move(report)) {}

void Changes::open(const aio::asio::any_io_executor& executor) {
  if (watch_ != nullptr) return;
  auto made = sys::DirectoryWatch::make(directories_);
  if (made) {
    watch_ = std::make_unique<Watch>(executor, *std::move(made));
    reported_.clear();
  } else if (made.error().text() != reported_) {
    reported_ = made.error().text();
    report_(made.error());
  }
}

aio::Task<bool> Changes::next(aio::Deadline deadline) {
  for (;;) {
    auto ready = co_await aio::with_deadline(watch_->readable.wait(), deadline);
    if (!ready && ready.error().code() == Errc::kTimeout) co_return false;
    if (!ready) co_return std::move(ready).error();
    auto happened = watch_->watch.take();
    if (!happened) {
      watch_.reset();  // opened anew by the next wait, which then looks at everything
      co_return true;
    }
    if (*happened) co_return true;
  }
}

aio::Task<void> Changes::wait(aio::Deadline deadline) {
  const auto executor = co_await aio::asio::this_coro::executor;
  open(executor);
  if (watch_ == nullptr) {
    co_return co_await aio::sleep_until(deadline);
  }
  auto happened = co_await next(deadline);
  if (!happened) co_return std::move(happened).error();
  const auto latest = Clock::now() + kLongestSettling * settle_;
  while (*happened && watch_ != nullptr && Clock::now() < latest) {
    happened = co_await next(std::min(latest, Clock::now() + settle_));
    if (!happened) co_return std::move(happened).error();
  }
  co_return Result<void>();
}

}  // namespace mnet::nodeconf
