// How single items of `cni-node watch` are doing: when a failed one is tried again, how often one
// was restored, and all of it in words (04, 3.3 and 3.5).
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/backoff.h"
#include "cni_node/names.h"
#include "cni_node/work.h"

namespace mnet::cni_node {

class ItemStatus {
 public:
  using Clock = std::chrono::steady_clock;
  enum class State : std::uint8_t { kNew, kInstalled, kPending, kFailed, kHeldBack };

  State state() const { return state_; }
  const std::string& why() const { return why_; }
  std::optional<Clock::time_point> retry_at() const { return retry_at_; }

  // `looks`: how it lies on disk, so that a change can be told without reading it.
  void is_well(std::string made_of, std::string looks = {});
  // Each says whether that is news.
  bool waits(std::string why, std::optional<Clock::time_point> retry_at);
  bool failed(std::string why, std::string input, Clock::time_point now);

  // Whether it failed for the same input and its pause is not over.
  bool must_wait(std::string_view input, Clock::time_point now) const;
  // Nothing is decided yet.
  void look_again(Clock::time_point when) { retry_at_ = when; }
  // The pause is forgotten: what hindered it is gone.
  void try_now() { retry_at_.reset(); }

  // Whether it was well with exactly this: if it is not now, another program changed it.
  bool was_well_with(std::string_view made_of) const { return made_of == made_of_ && is_known_; }
  bool looks_well(std::string_view looks) const {
    return state_ == State::kInstalled && looks == looks_;
  }
  // Whether it may be restored once more: five times in ten minutes, then not for ten.
  bool may_restore(Clock::time_point now);
  void hold_back(std::string why, Clock::time_point until);

 private:
  bool set(State state, std::string why, std::optional<Clock::time_point> retry_at);

  State state_ = State::kNew;
  std::string why_;
  std::optional<Clock::time_point> retry_at_;
  std::string input_;    // of the last failure
  std::string made_of_;  // of the last success
  std::string looks_;
  bool is_known_ = false;
  Backoff backoff_{std::chrono::seconds(1), std::chrono::minutes(6), make_random(), kFifth};
  std::deque<Clock::time_point> restores_;
};

// All items by kind and name.
class ItemBoard {
 public:
  using Clock = ItemStatus::Clock;

  ItemStatus& at(ItemKind kind, const std::string& name) { return items_[{kind, name}]; }
  // Items of that kind that are not among `names` are forgotten.
  void keep_only(ItemKind kind, const Names& names);
  bool all_well(ItemKind kind, const Names& names) const;
  void try_now(ItemKind kind);
  std::optional<Clock::time_point> next_try() const;
  // One line for each item: kind, name, state.
  std::string text() const;
  // The first item that is not installed, and why; empty if all are.
  std::string trouble() const;
  // How many items are in which state, in the text format of Prometheus.
  std::string metrics() const;

 private:
  std::map<std::pair<ItemKind, std::string>, ItemStatus> items_;
};

}  // namespace mnet::cni_node
