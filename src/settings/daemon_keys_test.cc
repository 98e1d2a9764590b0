#include "settings/daemon_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <regex>
#include <span>
#include <string>
#include <string_view>

#include "base/text.h"
#include "settings/config.h"
#include "settings/config_check.h"

namespace mnet::settings {
namespace {

using testing::Contains;
using testing::HasSubstr;

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_in(std::span<const std::string_view> list, std::string_view key) {
  return std::ranges::find(list, key) != list.end();
}

bool is_listed(const std::string& key) {
  const auto keys = daemon_keys();
  return is_in(keys, key) || std::ranges::any_of(keys, [&key](std::string_view owner) {
           return is_in(daemon_members(owner), key);
         });
}

TEST(DaemonKeys, HaveEveryKeyThatTheParsersRead) {
  const std::regex read_of(
      R"re(\b(?:read\w*|object|list|find)\((?:fields, )?"([A-Za-z][\w./-]*)")re");
  std::size_t keys = 0;
  for (const char* source : {"src/settings/config.cc", "src/settings/hotplug_settings.cc",
                             "src/settings/log_settings.cc", "src/model/netconf.cc"}) {
    const std::string text = contents(source);
    for (std::sregex_iterator found(text.begin(), text.end(), read_of), end; found != end;
         ++found) {
      ++keys;
      EXPECT_TRUE(is_listed((*found)[1])) << (*found)[1] << " of " << source;
    }
  }
  EXPECT_GT(keys, 60u);
}

// A value that no key may have: an error or a warning tells that the key was read.
TEST(DaemonKeys, AreAllReadOrWarnedAbout) {
  // Read with a request only.
  constexpr std::array<std::string_view, 3> kOfTheRuntime = {"dns", "ipam", "prevResult"};
  for (const std::string_view key : daemon_keys()) {
    if (is_in(kOfTheRuntime, key)) continue;

    const auto config = parse_config(cat("{", go_quoted(key), ":[[[]]]}"));

    const std::string said = config ? join(config_warnings(*config), "\n") : config.error().text();
    EXPECT_THAT(said, HasSubstr(std::string(key)));
  }
}

TEST(DaemonKeys, AreThoseOfTheReference) {
  const std::string text = contents("docs/reference.md");
  const std::size_t begin = text.find("## daemon-config.json");
  constexpr std::string_view kMembers = "| member of `";
  std::span<const std::string_view> known = daemon_keys();
  std::size_t rows = 0;
  for (const std::string_view line :
       split(text.substr(begin, text.find("\n## ", begin) - begin), '\n')) {
    if (line.empty()) known = daemon_keys();
    if (line.starts_with(kMembers)) {
      known = daemon_members(split(line.substr(kMembers.size()), '`').front());
    }
    if (!line.starts_with("| `")) continue;
    ++rows;
    EXPECT_THAT(known, Contains(line.substr(3, line.find('`', 3) - 3)));
  }
  EXPECT_GT(rows, 30u);
}

}  // namespace
}  // namespace mnet::settings
