#include "lint/text.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/text.h"
#include "json/at.h"
#include "lint/finding.h"
#include "yaml/places.h"
#include "yaml/yaml.h"

namespace mnet::lint {
namespace {

// Where `"b"` of the JSON text in `config` stands.
std::string spot_of_b(const std::string& yaml) {
  const auto file = std::make_shared<const File>(File{"f.yaml", yaml});
  const auto documents = yaml::parse_documents(yaml);
  auto places = yaml::find_places(yaml);
  if (!documents || !places) return "not YAML";
  const Document document(file, documents->front().value,
                          std::make_shared<const yaml::Places>(std::move(places->front())));
  const std::string value = json::text_at(*document.value().as_object(), {"config"});
  const Spot spot = document.text("/config", value).spot("/a/0/b");
  EXPECT_EQ(spot.field, "config");
  EXPECT_EQ(spot.path, ".a[0].b");
  return cat(spot.line, ":", spot.column);
}

TEST(Text, PointsIntoEveryKindOfScalar) {
  EXPECT_EQ(spot_of_b("config: |\n  {\"a\": [\n    {\"b\": 1}]}\n"), "3:11");
  EXPECT_EQ(spot_of_b("config: |-\n\n    {\"a\":\n  \n      [{\"b\": 1}]}\n"), "5:14");
  EXPECT_EQ(spot_of_b("config: '{\"a\": [{\"b\": 1}]}'\n"), "1:23");
  EXPECT_EQ(spot_of_b("config: '{\"x\": \"it''s\",\n   \"a\": [\n     {\"b\": 1}]}'\n"), "3:12");
  EXPECT_EQ(spot_of_b("config: \"{\\\"a\\\": [{\\\"b\\\": 1}]}\"\n"), "1:27");
  EXPECT_EQ(spot_of_b("config: >\n  {\"a\": [\n  {\"b\": 1}]}\n"), "3:9");
  EXPECT_EQ(spot_of_b("{\"config\": \"{\\n\\\"a\\\": [{\\\"b\\\": 1}]}\"}"), "1:32");
}

TEST(Text, FallsBackToTheStartOfAScalarThatHidesItsText) {
  EXPECT_EQ(spot_of_b("config: \"{\\x22a\\x22: [{\\\"b\\\": 1}]}\"\n"), "1:9");
}

TEST(PathText, ReadsAsPeopleWriteIt) {
  EXPECT_EQ(path_text("/spec/config", false), "spec.config");
  EXPECT_EQ(path_text("/plugins/0/ipam", true), ".plugins[0].ipam");
  EXPECT_EQ(path_text("/metadata/annotations/a.b~1c", false), "metadata.annotations[\"a.b/c\"]");
  EXPECT_EQ(pointer_of("plugins[0].ipam.type"), "/plugins/0/ipam/type");
}

}  // namespace
}  // namespace mnet::lint
