#include <gtest/gtest.h>

#include <string>

#include "json/json.h"
#include "yaml/yaml.h"

namespace mnet::yaml {
namespace {

TEST(Dump, WritesBlockStyleAsKubectlDoes) {
  const auto value = json::parse(R"({"a":{"b":[1,{"c":"x","d":[]}],"e":"yes"},"f":null})");
  ASSERT_TRUE(value.has_value());

  EXPECT_EQ(yaml::dump(*value), "a:\n  b:\n  - 1\n  - c: x\n    d: []\n  e: \"yes\"\nf: null\n");
}

TEST(Dump, IsReadBackAsTheSameValue) {
  for (const std::string text :
       {R"({"":"","a b":"- x","1":"1","t":"true","n":"~","m":"a\nb","q":"\"","c":"a: b","h":"#x"})",
        R"([[],[[1,2],{"k":[{"z":{}}]}],"",null,true,1.50,"é","0x1f",".inf","@a","*b","&c"])",
        R"("text")", R"({})"}) {
    const auto value = json::parse(text);
    ASSERT_TRUE(value.has_value()) << text;

    const auto documents = parse_documents(yaml::dump(*value));

    ASSERT_TRUE(documents.has_value()) << documents.error().text() << "\n" << yaml::dump(*value);
    ASSERT_EQ(documents->size(), 1u) << text;
    EXPECT_EQ(documents->front().value, *value) << yaml::dump(*value);
  }
}

}  // namespace
}  // namespace mnet::yaml
