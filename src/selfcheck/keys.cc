#include "selfcheck/keys.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/spelling.h"
#include "base/text.h"
#include "json/json.h"
#include "selfcheck/finding.h"

namespace mnet::selfcheck {
namespace {

// A configuration has hundreds of unknown keys only by mistake, and the first few reveal it.
constexpr std::size_t kMostReported = 20;

bool is_comment(std::string_view key) { return key.starts_with('_') || key.starts_with("//"); }

Finding unknown(std::string_view key, std::span<const std::string_view> known,
                std::string_view file) {
  const std::string_view near = nearest(key, known);
  return {.severity = Severity::kWarning,
          .check = kConfiguration,
          .what = cat(file, ": the key ", go_quoted(key), " is not known"),
          .why = "It has no effect",
          .advice = near.empty()
                        ? std::string("Remove it, or look it up in docs/reference.md")
                        : cat("Write ", near, " if that is what is meant; otherwise remove it")};
}

}  // namespace

Findings check_keys(const json::Object& document, std::span<const std::string_view> known,
                    const std::function<std::string(std::string_view)>& file_of) {
  Findings found;
  for (const auto& [key, value] : document) {
    const bool is_known = std::ranges::any_of(
        known, [&key](std::string_view one) { return json::is_spelling_of(key, one); });
    if (is_known || is_comment(key)) continue;
    if (found.size() == kMostReported) break;
    found.push_back(unknown(key, known, file_of(key)));
  }
  return found;
}

}  // namespace mnet::selfcheck
