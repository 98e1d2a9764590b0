#include "multusctl/hands/node_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>

#include "json/json.h"

namespace mnet::multusctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kSecret = R"({"type":"bridge","password":"hunter two,three","psk":"a}b;c&d"})";

json::Object definition(std::string config) {
  return {{"spec", json::Object{{"config", std::move(config)}}}};
}

TEST(Collected, HasNoSecretsOfAListThatIsCut) {
  const std::string ballast =
      json::dump(json::Object{{"type", "bridge"}, {"note", std::string(1'000'000, 'x')}});
  json::Array objects = {definition(kSecret)};
  for (int i = 0; i < 9; ++i) objects.push_back(definition(ballast));
  Collected collected;

  collected.add_list("definitions.json", objects);

  ASSERT_EQ(collected.files.size(), 1u);
  const std::string& text = collected.files[0].text;
  for (const char* part : {"hunter", "two", "three", "b;c", "c&d"}) {
    EXPECT_EQ(text.find(part), std::string::npos) << part;
  }
  const auto kept = json::parse(text);
  ASSERT_TRUE(kept.has_value()) << "whole objects";
  EXPECT_EQ(kept->as_array()->size(), 9u);
  EXPECT_LE(text.size(), kMostOfFile + 2);
  EXPECT_THAT(collected.missing, ElementsAre(HasSubstr("after 9 of 10 objects")));
}

TEST(Collected, HasNoSecretsOfADocumentThatIsCut) {
  Collected collected;

  collected.add("status.json", json::dump(json::Object{{"config", kSecret},
                                                       {"note", std::string(9'000'000, 'x')}}));

  ASSERT_EQ(collected.files.size(), 1u);
  EXPECT_EQ(collected.files[0].text.size(), kMostOfFile);
  EXPECT_THAT(collected.files[0].text.substr(0, 1000), Not(HasSubstr("three")));
  EXPECT_THAT(collected.files[0].text.substr(0, 1000), HasSubstr("bridge"));
  EXPECT_THAT(collected.missing, ElementsAre(HasSubstr("status.json: cut at")));
}

// A node may name any number of files that have nothing in them.
TEST(Collected, CountsTheNamesOfFilesToo) {
  json::Array files, missing;
  for (std::size_t i = 0; i < 70'000; ++i) {
    files.push_back(json::Object{{"name", "f"}, {"text", ""}});
    missing.emplace_back(std::string("m"));
  }

  const Collected collected =
      parse_collected({{"files", std::move(files)}, {"missing", std::move(missing)}});

  EXPECT_LT(collected.files.size(), kMostOfBundle / 1024);
  EXPECT_LE(collected.missing.size(), 2 * kMostMissing);
}

TEST(Collected, KeepsAListThatHasRoom) {
  Collected collected;

  collected.add_list("empty.json", {});
  collected.add_list("definitions.json", {definition("{}"), definition("{}")});

  ASSERT_EQ(collected.files.size(), 2u);
  EXPECT_EQ(json::parse(collected.files[0].text)->as_array()->size(), 0u);
  EXPECT_EQ(json::parse(collected.files[1].text)->as_array()->size(), 2u);
  EXPECT_THAT(collected.missing, ElementsAre());
}

}  // namespace
}  // namespace mnet::multusctl
