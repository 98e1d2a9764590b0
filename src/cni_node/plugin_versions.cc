#include "cni_node/plugin_versions.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "sys/file.h"

namespace mnet::cni_node {
namespace {

constexpr std::size_t kMaxVersions = 1u << 20;

// `1, 10, 0` of `v1.10.0-rc1`.
std::vector<std::uint32_t> numbers_of(std::string_view version) {
  std::vector<std::uint32_t> out;
  if (version.starts_with('v')) version.remove_prefix(1);
  for (const std::string_view part : split(version, '.')) {
    std::uint32_t number = 0;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), number);
    if (read.ptr == part.data()) break;
    out.push_back(number);
    if (read.ptr != part.data() + part.size()) break;
  }
  return out;
}

}  // namespace

std::string plugin_version(const std::string& plugin_source, std::string_view name) {
  const auto text = sys::read_file(cat(plugin_source, "/.versions"), kMaxVersions);
  if (!text) return {};
  for (const std::string_view line : split(*text, '\n')) {
    const auto words = split(trim(line), ' ');
    if (words.size() == 2 && words[0] == name) return std::string(words[1]);
  }
  return {};
}

bool is_older(std::string_view version, std::string_view than) {
  const auto ours = numbers_of(version), theirs = numbers_of(than);
  return !ours.empty() && !theirs.empty() && ours < theirs;
}

}  // namespace mnet::cni_node
