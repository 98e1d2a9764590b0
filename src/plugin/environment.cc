#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "plugin/plugin.h"

namespace mnet::plugin {
namespace {

constexpr std::string_view kSanePath =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// One entry per name; the last one given wins, in the place of the first.
class Entries {
 public:
  void set(std::string_view name, std::string entry) {
    const auto [known, is_new] = places_.try_emplace(std::string(name), entries_.size());
    if (is_new) {
      entries_.push_back(std::move(entry));
    } else {
      entries_[known->second] = std::move(entry);
    }
  }
  // An entry that is not `NAME=value` has no name to share.
  void keep(std::string entry) { entries_.push_back(std::move(entry)); }
  bool has(std::string_view name) const { return places_.contains(std::string(name)); }
  std::vector<std::string> take() && { return std::move(entries_); }

 private:
  std::vector<std::string> entries_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace

std::vector<std::string> environment(const std::vector<std::string>& inherited,
                                     const std::vector<std::pair<std::string, std::string>>& set) {
  Entries entries;
  for (const std::string& entry : inherited) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos) {
      entries.keep(entry);
    } else {
      entries.set(std::string_view(entry).substr(0, equals), entry);
    }
  }
  for (const auto& [name, value] : set) entries.set(name, cat(name, "=", value));
  if (!entries.has("PATH")) entries.set("PATH", cat("PATH=", kSanePath));
  return std::move(entries).take();
}

}  // namespace mnet::plugin
