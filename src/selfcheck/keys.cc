#include "selfcheck/keys.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "json/json.h"

namespace mnet::selfcheck {
namespace {

// A configuration has hundreds of unknown keys only by mistake; the first ones tell of it.
constexpr std::size_t kMostReported = 20;
constexpr std::size_t kLongestKey = 64;

// Letters to insert, remove or change (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, diagonal + 1, changed});
    }
  }
  return row.back();
}

// The known key that differs in the fewest letters; empty if none is near.
std::string_view nearest_key(std::string_view key, const std::vector<std::string>& known) {
  if (key.size() > kLongestKey) return {};
  const std::string wanted = to_lower(key);
  std::size_t least = wanted.size() / 3 + 1;
  std::string_view nearest;
  for (const std::string& candidate : known) {
    const std::size_t far = distance(wanted, to_lower(candidate));
    if (far >= least) continue;
    least = far;
    nearest = candidate;
  }
  return nearest;
}

bool is_comment(std::string_view key) { return key.starts_with('_') || key.starts_with("//"); }

Finding unknown(std::string_view key, const std::vector<std::string>& known,
                std::string_view file) {
  const std::string_view near = nearest_key(key, known);
  return {.severity = Severity::kWarning,
          .check = kConfiguration,
          .what = cat(file, ": the key ", go_quoted(key), " is not known"),
          .why = "It has no effect",
          .advice = near.empty() ? std::string("Remove it, or look it up in docs/reference.md")
                                 : cat("Write ", near, " if that is meant, else remove it")};
}

}  // namespace

Findings check_keys(const json::Object& document, const std::vector<std::string>& known,
                    const std::function<std::string(std::string_view)>& file_of) {
  std::vector<std::string> names;
  std::ranges::transform(known, std::back_inserter(names), to_lower);
  Findings found;
  for (const auto& [key, value] : document) {
    if (is_comment(key) || std::ranges::find(names, to_lower(key)) != names.end()) continue;
    if (found.size() == kMostReported) break;
    found.push_back(unknown(key, known, file_of(key)));
  }
  return found;
}

}  // namespace mnet::selfcheck
