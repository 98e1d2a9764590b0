#include "manifests/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/dns_name.h"
#include "base/log.h"
#include "base/test_clock.h"
#include "base/test_log.h"
#include "base/text.h"
#include "json/json.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::manifests {
namespace {

using sys::TestDir;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

class EventFileTest : public testing::Test {
 protected:
  std::vector<json::Object> written(const std::string& name = "events.jsonl") const {
    std::vector<json::Object> out;
    const std::string text = sys::read_file(dir / name).value();
    EXPECT_TRUE(text.ends_with('\n'));
    for (const std::string_view line : split(text, '\n')) {
      if (!line.empty()) out.push_back(json::parse_object(line).value());
    }
    return out;
  }
  static std::string name_of(const json::Object& event) {
    return *event.find("metadata")->as_object()->find("name")->as_string();
  }
  static std::int64_t count_of(const json::Object& event) {
    return event.find("count")->as_number()->as_int64().value_or(-1);
  }

  const TestDir dir;
  TestClock clock{std::chrono::seconds(1'787'240'345)};
  std::shared_ptr<TestLog> lines = std::make_shared<TestLog>();
  Log log{{lines}, LogLevel::kVerbose};
  EventFile events{dir.path(), log, &clock};
  const Event added{{"prod", "web-0", "u-1", "77"},
                    "Normal",
                    "AddedInterface",
                    "Add net1 [10.1.1.101/24] from default/mac",
                    "an-id"};
};

TEST_F(EventFileTest, HasTheShapeOfACoreEvent) {
  events.append(added);

  EXPECT_EQ(json::Value(written().at(0)), json::parse(R"({"apiVersion":"v1","kind":"Event",
                "metadata":{"namespace":"prod","name":"web-0.18cd8d9fe3f8ba00"},
                "involvedObject":{"kind":"Pod","apiVersion":"v1","namespace":"prod","name":"web-0",
                                  "uid":"u-1","resourceVersion":"77"},
                "reason":"AddedInterface","message":"Add net1 [10.1.1.101/24] from default/mac",
                "type":"Normal","source":{"component":"multus"},"reportingComponent":"multus",
                "firstTimestamp":"2026-08-20T15:39:05Z","lastTimestamp":"2026-08-20T15:39:05Z",
                "count":1})")
                                              .value());
}

TEST_F(EventFileTest, LeavesOutWhatIsNotKnownOfThePod) {
  events.append({{.ns = "default", .name = "a"}, "Normal", "AddedInterface", "x"});

  EXPECT_THAT(json::dump(*written().at(0).find("involvedObject")),
              R"({"kind":"Pod","apiVersion":"v1","namespace":"default","name":"a"})");
}

TEST_F(EventFileTest, CountsRepeatsUnderOneName) {
  events.append(added);
  clock.time += std::chrono::seconds(10);
  events.append(added);

  const auto all = written();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(name_of(all[1]), name_of(all[0]));
  EXPECT_EQ(count_of(all[1]), 2);
  EXPECT_EQ(*all[1].find("firstTimestamp"), json::Value("2026-08-20T15:39:05Z"));
  EXPECT_EQ(*all[1].find("lastTimestamp"), json::Value("2026-08-20T15:39:15Z"));
}

TEST_F(EventFileTest, TellsEventsApartByPodTypeReasonAndMessage) {
  std::vector<Event> others(5, added);
  others[0].pod.uid = "u-2";
  others[1].pod.name = "web-1";
  others[2].type = "Warning";
  others[3].reason = "NoNetworkFound";
  others[4].message = "another";

  events.append(added);
  for (const Event& event : others) events.append(event);

  for (const json::Object& event : written()) EXPECT_EQ(count_of(event), 1);
}

TEST_F(EventFileTest, TakesAUuidForANameThatWouldBeNone) {
  Event event = added;
  event.pod.name = std::string(250, 'a');

  events.append(event);

  const std::string name = name_of(written().at(0));
  EXPECT_THAT(name,
              MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_TRUE(is_dns_subdomain(name));
}

TEST_F(EventFileTest, KeepsWhatWasThereAndStaysReadableByOthers) {
  EventFile(dir.path(), log, &clock).append(added);
  EventFile(dir.path(), log, &clock).append(added);

  EXPECT_EQ(written().size(), 2u);
  EXPECT_EQ(static_cast<int>(std::filesystem::status(dir / "events.jsonl").permissions()), 0644);
}

TEST_F(EventFileTest, NeverKeepsMoreThanTwoFilesOfItsSize) {
  EventFile small(dir.path(), log, &clock, 2000);

  for (int i = 0; i < 30; ++i) {
    small.append({{.ns = "default", .name = "a"}, "Normal", "AddedInterface", cat(i)});
  }

  EXPECT_EQ(sys::list_directory(dir.path()).value().size(), 2u);
  EXPECT_LE(std::filesystem::file_size(dir / "events.jsonl"), 2000u);
  EXPECT_LE(std::filesystem::file_size(dir / "events.jsonl.1"), 2000u);
  EXPECT_EQ(*written().back().find("message"), json::Value("29"));
  const auto older = written("events.jsonl.1");
  EXPECT_EQ(older.size() + written().size(),
            30 - std::stoul(*older.front().find("message")->as_string()));  // none lost between
}

TEST_F(EventFileTest, ForgetsOldEventsInsteadOfGrowing) {
  events.append(added);
  for (int i = 0; i < 2000; ++i) {
    events.append({{.ns = "default", .name = "a"}, "Normal", "AddedInterface", cat(i)});
  }
  events.append(added);

  EXPECT_EQ(count_of(written().back()), 1);
}

TEST_F(EventFileTest, ThatCannotBeWrittenIsInTheLogOnly) {
  EventFile nowhere(dir / "none", log, &clock);

  nowhere.append(added);
  nowhere.append(added);

  EXPECT_FALSE(std::filesystem::exists(dir / "none"));
  EXPECT_THAT(lines->lines(),
              Contains(HasSubstr("[error] events are only logged: open ")).Times(1));
  EXPECT_THAT(lines->lines(),
              Contains(AllOf(HasSubstr("event of pod prod/web-0: Normal AddedInterface Add net1"),
                             HasSubstr(" request=an-id")))
                  .Times(2));
}

TEST_F(EventFileTest, GoesOnAfterSomebodyRemovedTheFile) {
  events.append(added);
  std::filesystem::remove(dir / "events.jsonl");
  events.append(added);

  EXPECT_EQ(written().size(), 1u);
  EXPECT_THAT(lines->lines(), IsEmpty());
}

}  // namespace
}  // namespace mnet::manifests
