#include "cni_node/item_status.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cni_node/names.h"
#include "cni_node/work.h"
#include "nodetools/output.h"

namespace mnet::cni_node {
namespace {

constexpr std::chrono::minutes kWindow{10};
constexpr std::size_t kMostRestores = 5;

constexpr std::array<std::string_view, 3> kKinds = {"plugin", "config", "manifest"};
constexpr std::array<std::string_view, 5> kStates = {"new", "installed", "pending", "failed",
                                                     "held back"};

}  // namespace

bool ItemStatus::set(State state, std::string why, std::optional<Clock::time_point> retry_at) {
  retry_at_ = retry_at;
  const bool is_news = state != state_ || why != why_;
  state_ = state;
  why_ = std::move(why);
  return is_news;
}

void ItemStatus::is_well(std::string made_of, std::string looks) {
  (void)set(State::kInstalled, {}, {});
  made_of_ = std::move(made_of);
  looks_ = std::move(looks);
  is_known_ = true;
  backoff_.reset();
}

bool ItemStatus::waits(std::string why, std::optional<Clock::time_point> retry_at) {
  return set(State::kPending, std::move(why), retry_at);
}

bool ItemStatus::failed(std::string why, std::string input, Clock::time_point now) {
  if (input != input_) backoff_.reset();
  input_ = std::move(input);
  return set(State::kFailed, std::move(why), now + backoff_.next());
}

bool ItemStatus::must_wait(std::string_view input, Clock::time_point now) const {
  return state_ == State::kFailed && input == input_ && retry_at_ && now < *retry_at_;
}

bool ItemStatus::may_restore(Clock::time_point now) {
  while (!restores_.empty() && now - restores_.front() >= kWindow) restores_.pop_front();
  if (restores_.size() >= kMostRestores) return false;
  restores_.push_back(now);
  return true;
}

void ItemStatus::hold_back(std::string why, Clock::time_point until) {
  if (state_ == State::kHeldBack) return;
  (void)set(State::kHeldBack, std::move(why), until);
}

void ItemBoard::keep_only(ItemKind kind, const Names& names) {
  std::erase_if(items_, [&](const auto& item) {
    return item.first.first == kind && std::ranges::find(names, item.first.second) == names.end();
  });
}

bool ItemBoard::all_well(ItemKind kind, const Names& names) const {
  return std::ranges::all_of(names, [&](const std::string& name) {
    const auto item = items_.find({kind, name});
    return item != items_.end() && item->second.state() == ItemStatus::State::kInstalled &&
           !item->second.retry_at();
  });
}

void ItemBoard::try_now(ItemKind kind) {
  for (auto& [key, item] : items_) {
    if (key.first == kind && item.state() == ItemStatus::State::kFailed) item.try_now();
  }
}

std::optional<ItemBoard::Clock::time_point> ItemBoard::next_try() const {
  std::optional<Clock::time_point> out;
  for (const auto& [key, item] : items_) {
    if (item.retry_at() && (!out || *item.retry_at() < *out)) out = item.retry_at();
  }
  return out;
}

std::string ItemBoard::text() const {
  std::size_t width = 0;
  for (const auto& [key, item] : items_) width = std::max(width, key.second.size());
  std::string out;
  for (const auto& [key, item] : items_) {
    out += cat(nodetools::padded(kKinds[static_cast<std::size_t>(key.first)], 10),
               nodetools::padded(key.second, width + 2),
               kStates[static_cast<std::size_t>(item.state())], item.why().empty() ? "" : ": ",
               item.why(), "\n");
  }
  return out;
}

std::string ItemBoard::trouble() const {
  for (const auto& [key, item] : items_) {
    if (item.state() == ItemStatus::State::kInstalled) continue;
    return cat(kKinds[static_cast<std::size_t>(key.first)], " ", key.second, " ",
               kStates[static_cast<std::size_t>(item.state())], item.why().empty() ? "" : ": ",
               item.why());
  }
  return {};
}

std::string ItemBoard::metrics() const {
  std::string out = "# TYPE cni_node_items gauge\n";
  for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
    for (std::size_t state = 0; state < kStates.size(); ++state) {
      const auto count = std::ranges::count_if(items_, [&](const auto& item) {
        return static_cast<std::size_t>(item.first.first) == kind &&
               static_cast<std::size_t>(item.second.state()) == state;
      });
      out += cat("cni_node_items{kind=\"", kKinds[kind], "\",state=\"", kStates[state], "\"} ",
                 count, "\n");
    }
  }
  return out;
}

}  // namespace mnet::cni_node
