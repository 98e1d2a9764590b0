#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "plugin/plugin.h"

namespace mnet::plugin {
namespace {

constexpr std::string_view kSanePath =
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

bool sets(std::string_view entry, std::string_view name) {
  return entry.size() > name.size() && entry[name.size()] == '=' && entry.starts_with(name);
}

}  // namespace

std::vector<std::string> environment(const std::vector<std::string>& inherited,
                                     const std::vector<std::pair<std::string, std::string>>& set) {
  std::vector<std::string> out;
  out.reserve(inherited.size() + set.size() + 1);
  bool has_path = false;
  for (const std::string& entry : inherited) {
    const bool replaced =
        std::ranges::any_of(set, [&](const auto& pair) { return sets(entry, pair.first); });
    if (replaced) continue;
    has_path = has_path || sets(entry, "PATH");
    out.push_back(entry);
  }
  for (const auto& [name, value] : set) {
    has_path = has_path || name == "PATH";
    out.push_back(cat(name, "=", value));
  }
  if (!has_path) out.emplace_back(kSanePath);
  return out;
}

}  // namespace mnet::plugin
