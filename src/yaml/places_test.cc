#include "yaml/places.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "yaml/yaml.h"

namespace mnet::yaml {
namespace {

std::string at(const Mark& mark) {
  return std::to_string(mark.line) + ":" + std::to_string(mark.column);
}

Places only(std::string_view text) {
  auto found = find_places(text);
  EXPECT_TRUE(found.has_value()) << found.error().text();
  EXPECT_EQ(found->size(), 1u);
  return found && !found->empty() ? found->front() : Places();
}

TEST(FindPlaces, TellsWhereMembersAndElementsStand) {
  const std::string text = "spec:\n  config: |\n    {}\n  list:\n  - a\n  - b: c\n";
  const Places places = only(text);

  EXPECT_EQ(at(place_of(places, "/spec/config").value), "2:11");
  EXPECT_EQ(at(place_of(places, "/spec/config").key), "2:3");
  EXPECT_EQ(text[place_of(places, "/spec/config").value.offset], '|');
  EXPECT_EQ(at(place_of(places, "/spec/list/0").value), "5:5");
  EXPECT_EQ(at(place_of(places, "/spec/list/1/b").value), "6:8");
}

TEST(FindPlaces, ReadsJsonWithTabsAndKeysThatNeedEscapes) {
  const Places places = only("{\n\t\"a/b\":{\"c~\":[1,{\"d\":\"x\"}]},\"e\":null}");

  EXPECT_EQ(at(place_of(places, "/a~1b/c~0/1/d").value), "2:22");
  EXPECT_EQ(at(place_of(places, "/e").key), "2:29");
}

TEST(FindPlaces, FallsBackToWhatIsAroundAValueWithoutAPlace) {
  const Places places = only("a: &x {b: 1}\nc: *x\n");

  EXPECT_EQ(at(place_of(places, "/c/b").value), "2:4");
}

TEST(FindPlaces, LeavesEmptyDocumentsOutAsTheParserDoes) {
  const std::string text = "# nothing\n---\na: 1\n---\n---\nb: 2\n";
  const auto documents = parse_documents(text);
  const auto found = find_places(text);

  ASSERT_TRUE(documents.has_value() && found.has_value());
  ASSERT_EQ(found->size(), documents->size());
  EXPECT_EQ(at(place_of(found->back(), "/b").value), "6:4");
}

}  // namespace
}  // namespace mnet::yaml
