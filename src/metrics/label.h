// Label values that come from outside, limited to a number that no outsider can exceed.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace mnet::metrics {

class BoundedLabel {
 public:
  explicit BoundedLabel(std::size_t most) : most_(most) {}

  // `value` itself for the first `most` different ones that look like the name of a program, else
  // `other`.
  std::string of(std::string_view value) {
    if (known_.contains(value)) return std::string(value);
    if (known_.size() >= most_ || !is_plain(value)) return "other";
    return *known_.emplace(value).first;
  }

 private:
  static bool is_plain(std::string_view value) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    return !value.empty() && value.size() <= 64 &&
           value.find_first_not_of(kPlain) == std::string_view::npos;
  }

  std::size_t most_;
  std::set<std::string, std::less<>> known_;
};

}  // namespace mnet::metrics
