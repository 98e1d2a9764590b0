#include "base/spelling.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace mnet {
namespace {

constexpr std::size_t kLongestWord = 64;

}  // namespace

std::size_t spelling_distance(std::string_view a_word, std::string_view b_word) {
  const std::string a = to_lower(a_word), b = to_lower(b_word);
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        cost[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      const bool is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_swap) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> known) {
  if (word.size() < 3 || word.size() > kLongestWord) return {};
  std::size_t least = word.size() <= 5 ? 2 : 3;
  std::string_view found;
  for (const std::string_view candidate : known) {
    if (candidate.size() > word.size() + 2 || word.size() > candidate.size() + 2) continue;
    const std::size_t mistakes = spelling_distance(word, candidate);
    if (mistakes >= least) continue;
    least = mistakes;
    found = candidate;
  }
  return found;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> known) {
  const std::string_view meant = nearest(word, known);
  return meant.empty() ? std::string() : cat(", did you mean ", go_quoted(meant), "?");
}

}  // namespace mnet
