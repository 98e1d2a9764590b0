#include "kube/definitions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

#include "base/text.h"
#include "json/json.h"
#include "kube/watch_event.h"
#include "model/objects.h"

namespace mnet::kube {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::size_t kText = 10'000;  // of each text; the store has room for two

json::Object definition(const std::string& name, int version, std::string config = {},
                        const std::string& resource = "") {
  if (config.empty()) config = std::string(kText, 'x');
  json::Object metadata{{"namespace", "n"}, {"name", name}, {"resourceVersion", cat(version)}};
  if (!resource.empty()) {
    metadata.set("annotations", json::Object{{"k8s.v1.cni.cncf.io/resourceName", resource}});
  }
  return json::Object{{"metadata", std::move(metadata)},
                      {"spec", json::Object{{"config", std::move(config)}}}};
}

class DefinitionsTest : public testing::Test {
 protected:
  void put(const std::string& name, int version = 1) {
    ASSERT_TRUE(store_.change(EventType::kAdded, definition(name, version)).has_value());
  }
  void list(std::initializer_list<const char*> names, int version = 1) {
    for (const char* name : names) ASSERT_TRUE(store_.add(definition(name, version)).has_value());
  }
  bool is_in_memory(const std::string& name) { return store_.use("n", name) != nullptr; }
  std::string version(const std::string& name) {
    const auto whole = store_.use("n", name);
    return whole == nullptr ? "" : whole->resource_version;
  }

  Definitions store_{2 * kText + 2000};
};

// pain 44
TEST_F(DefinitionsTest, KeepWhatIsSmallOfAllAndSoManyBytesOfTexts) {
  for (int i = 0; i < 50; ++i) put(cat("d", i));

  EXPECT_EQ(store_.size(), 50u);
  EXPECT_LE(store_.text_bytes(), 2 * kText + 2000);
  EXPECT_EQ(store_.evictions(), 48u);
  ASSERT_NE(store_.find("n", "d0"), nullptr);
  EXPECT_EQ(store_.find("n", "d0")->size, kText);
  EXPECT_FALSE(is_in_memory("d0"));
  EXPECT_TRUE(is_in_memory("d49"));
}

TEST_F(DefinitionsTest, KeepTheTextsThatRequestsAskedForLongest) {
  put("named");
  ASSERT_TRUE(is_in_memory("named"));

  for (int i = 0; i < 50; ++i) put(cat("other", i));
  EXPECT_TRUE(is_in_memory("named"));
  put("named", 2);
  for (int i = 0; i < 50; ++i) put(cat("other", i));
  EXPECT_EQ(version("named"), "2");

  ASSERT_TRUE(is_in_memory("other49"));  // now both are asked for
  ASSERT_TRUE(is_in_memory("named"));
  put("new");
  EXPECT_FALSE(is_in_memory("new"));
  store_.keep(std::make_shared<const model::NetworkDefinition>(model::NetworkDefinition{
      .ns = "n", .name = "new", .resource_version = "1", .config = std::string(kText, 'y')}));
  EXPECT_TRUE(is_in_memory("new"));
  EXPECT_TRUE(is_in_memory("named"));
  EXPECT_FALSE(is_in_memory("other49"));
}

TEST_F(DefinitionsTest, TakeATextBackOnlyIfItIsOfTheVersionThatTheyKnow) {
  for (const char* name : {"a", "b", "c"}) put(name, 2);
  ASSERT_FALSE(is_in_memory("a"));
  const auto read = [](const std::string& name, const std::string& version) {
    return std::make_shared<const model::NetworkDefinition>(
        model::NetworkDefinition{.ns = "n", .name = name, .resource_version = version});
  };

  store_.keep(read("a", "1"));
  store_.keep(read("unknown", "2"));
  EXPECT_FALSE(is_in_memory("a"));
  EXPECT_FALSE(is_in_memory("unknown"));

  store_.keep(read("a", "2"));
  EXPECT_TRUE(is_in_memory("a"));
}

TEST_F(DefinitionsTest, OfASecondListCountWithTheFirst) {
  store_.begin();
  list({"a", "b"});
  store_.commit();
  ASSERT_TRUE(is_in_memory("a") && is_in_memory("b"));
  const std::size_t before = store_.text_bytes();

  store_.begin();
  list({"a", "b", "c"}, 2);
  EXPECT_LE(store_.text_bytes(), before);
  EXPECT_EQ(store_.size(), 2u) << "what is being read is not known yet";
  EXPECT_FALSE(is_in_memory("c"));
  store_.commit();

  EXPECT_EQ(store_.size(), 3u);
  EXPECT_LE(store_.text_bytes(), before);
}

TEST_F(DefinitionsTest, ThatAreGoneLeaveNothing) {
  store_.begin();
  list({"a", "b"});
  store_.commit();
  ASSERT_TRUE(store_.change(EventType::kDeleted, definition("a", 2)).has_value());
  EXPECT_EQ(store_.find("n", "a"), nullptr);
  EXPECT_FALSE(is_in_memory("a"));

  store_.begin();
  list({"c"});
  store_.begin();  // the list before was given up
  store_.commit();

  EXPECT_EQ(store_.size(), 0u);
  EXPECT_EQ(store_.text_bytes(), 0u);
}

TEST_F(DefinitionsTest, TellWhatIsSmallOfEach) {
  const std::string chain =
      R"({"plugins":[{"type":"macvlan","note":"a \"type\": \"x\"","ipam":{"type" : "dhcp"}},)"
      R"({"types":"no","type":5},{"type":"tuning"}]})";
  const auto put = [this](const json::Object& object) {
    ASSERT_TRUE(store_.change(EventType::kAdded, object).has_value());
  };
  put(definition("chain", 1, chain, "vendor.example/nic"));
  put(definition("huge", 1, cat(R"({"type":")", std::string(kText, 't'), R"("})"),
                 std::string(kText, 'r')));
  put(definition("broken", 1, R"({"type":")"));

  const Definitions::Summary* known = store_.find("n", "chain");
  EXPECT_THAT(known->plugin_types, ElementsAre("macvlan", "dhcp", "tuning"));
  EXPECT_EQ(known->resource_name, "vendor.example/nic");
  EXPECT_EQ(known->resource_version, "1");
  EXPECT_EQ(known->size, chain.size());
  EXPECT_THAT(store_.find("n", "huge")->plugin_types, IsEmpty());
  EXPECT_EQ(store_.find("n", "huge")->resource_name, "");
  EXPECT_EQ(store_.use("n", "huge")->resource_name.size(), kText);
  EXPECT_THAT(store_.find("n", "broken")->plugin_types, IsEmpty());
}

// Each takes memory on every node, whatever is in it.
TEST_F(DefinitionsTest, KeepAFewTypesOfEach) {
  std::string many = R"({"plugins":[{"type":""},{"type":"a"},{"type":"a"})";
  for (char type = 'b'; type <= 'z'; ++type) many += cat(R"(,{"type":")", type, R"("})");
  ASSERT_TRUE(store_.change(EventType::kAdded, definition("many", 1, many + "]}")).has_value());

  EXPECT_THAT(store_.find("n", "many")->plugin_types,
              ElementsAre("a", "b", "c", "d", "e", "f", "g", "h"));
}

}  // namespace
}  // namespace mnet::kube
