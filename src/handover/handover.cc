#include "handover/handover.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "handover/container_locks.h"
#include "http/http.h"
#include "sys/file.h"
#include "sys/file_lock.h"
#include "sys/socket_file.h"

namespace mnet::handover {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kLocks = "multus-locks";
constexpr std::string_view kOwnPrefix = "multus-";
constexpr std::string_view kOwnSuffix = ".sock";
constexpr std::size_t kLongestUid = 64;
constexpr std::size_t kLongestPath = 107;  // sun_path
constexpr std::chrono::milliseconds kBetweenAsking{200};

bool is_uid(const std::string& text) {
  const auto fits = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  };
  return !text.empty() && text.size() <= kLongestUid && std::ranges::all_of(text, fits);
}

std::string beside(const std::string& path, std::string_view name) {
  return clean_path(cat(sys::directory_of(path), "/", name));
}

}  // namespace

std::string own_socket_path(const std::string& socket_path, const std::string& pod_uid) {
  if (!is_uid(pod_uid)) return {};
  std::string path = beside(socket_path, cat(kOwnPrefix, pod_uid, kOwnSuffix));
  return path.size() <= kLongestPath ? path : std::string();
}

void remove_dead_names(const std::string& socket_path) {
  sys::remove_dead_sockets(sys::directory_of(socket_path), kOwnPrefix);
}

Handover::Handover(std::string socket_path, ContainerLocks::EndOrphans end_orphans, Log log,
                   Pace pace, Now now)
    : socket_path_(std::move(socket_path)),
      end_orphans_(std::move(end_orphans)),
      log_(std::move(log)),
      pace_(pace),
      now_(std::move(now)),
      locks_(beside(socket_path_, kLocks), end_orphans_),
      changes_({sys::directory_of(socket_path_)}, std::chrono::milliseconds(0),
               [this](const Error& why) {
                 log_.error("cannot watch the socket's directory, which is polled instead", why);
               }) {}

// Without it this daemon works as if it were alone.
void Handover::enter() {
  auto made = sys::Presence::make(sys::directory_of(socket_path_));
  if (!made) {
    log_.warning(cat("cannot tell whether other daemons run: ", made.error().text()));
    return;
  }
  presence_.emplace(*std::move(made));
  if (!is_alone()) lock();
}

void Handover::lock() {
  if (auto shared = locks_.share(); !shared) log_.error("cannot lock containers", shared.error());
}

bool Handover::is_alone() const {
  if (!presence_) return true;
  const auto alone = presence_->is_alone();
  if (!alone) log_.error("cannot tell whether other daemons run", alone.error());
  return alone.value_or(false);
}

Result<void> Handover::share() { return locks_.share(); }

aio::Task<void> Handover::announce() {
  if (!is_alone()) lock();
  http::ClientRequest request;
  request.method = "POST";
  request.target = kPath;
  for (int missed = 0; missed < pace_.answers_missed;) {
    const auto answer =
        co_await http::request_unix(socket_path_, request, Clock::now() + pace_.answer);
    if (!answer && answer.error().code() == Errc::kCancelled) co_return answer.error();
    if (!answer && answer.error().code() == Errc::kUnavailable) co_return Result<void>();
    // Only 503 means "not yet". Any other answer is a yes, or comes from a daemon that does not
    // know the path.
    if (answer && answer->status != 503) co_return Result<void>();
    if (!answer) ++missed;
    MNET_CO_TRY_VOID(co_await aio::sleep_for(kBetweenAsking));
  }
  log_.warning(
      cat("the daemon on ", socket_path_, " does not answer: taking over without waiting for it"));
  co_return Result<void>();
}

aio::Task<void> Handover::follow(NameHooks hooks) {
  // Watches from here on, so that no change between a look and the next wait is missed.
  MNET_CO_TRY_VOID(co_await changes_.wait(Clock::now()));
  for (;;) {
    look_at_name(hooks);
    MNET_CO_TRY_VOID(co_await look_for_others());
    const bool is_soon = is_shared() || missing_since_;
    MNET_CO_TRY_VOID(co_await changes_.wait(Clock::now() + (is_soon ? pace_.soon : pace_.poll)));
  }
}

void Handover::look_at_name(const NameHooks& hooks) {
  using Name = sys::SocketFile::Name;
  if (is_taken_) return look_for_heir(hooks);
  const Name now = hooks.state();
  if (now != Name::kGone) missing_since_.reset();
  if (now == Name::kTaken) {
    is_taken_ = true;
    // For good: a later daemon could not ask this one for its locks.
    lock();
    hooks.taken();
  } else if (now == Name::kGone) {
    if (!missing_since_) missing_since_ = now_();
    if (now_() - *missing_since_ < pace_.missing) return;
    missing_since_.reset();
    hooks.lost();
  }
}

// The daemon that took the name may have belonged to a pod that is being deleted and started late:
// the kubelet does not start it again.
void Handover::look_for_heir(const NameHooks& hooks) {
  if (hooks.is_served()) return missing_since_.reset();
  if (is_abandoned_) return;
  if (!missing_since_) missing_since_ = now_();
  if (now_() - *missing_since_ < pace_.missing) return;
  is_abandoned_ = true;
  hooks.abandoned();
}

aio::Task<void> Handover::look_for_others() {
  if (is_taken_ || !is_shared() || !is_alone()) co_return Result<void>();
  MNET_CO_TRY_VOID(co_await end_orphans_());
  // One may have come meanwhile: a daemon shows itself before it asks for the locks.
  if (!is_taken_ && is_alone()) {
    log_.verbose("no other daemon runs any more");
    locks_.unshare();
  }
  co_return Result<void>();
}

}  // namespace mnet::handover
