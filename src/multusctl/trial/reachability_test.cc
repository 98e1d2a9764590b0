#include "multusctl/trial/reachability.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/json.h"

namespace mnet::multusctl {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Station> two() {
  return {{.pod = "a", .node = "n1", .interface = "net1", .addresses = {"10.0.0.1"}},
          {.pod = "b", .node = "n2", .interface = "net1", .addresses = {"10.0.0.2"}}};
}

json::Object answer(const std::string& address, const std::string& state, const std::string& by) {
  return *json::parse_object(
      cat(R"({"targets":[{"address":")", address, R"(","state":")", state, R"(","by":")", by,
          R"(","roundTripMicros":1234,"mtu":1500,"largest":1500,"why":""}],"duplicates":[]})"));
}

TEST(Reachability, IsGoodIfEveryStationHearsEveryOther) {
  const auto verdicts =
      judge(two(), {answer("10.0.0.2", "ok", "b"), answer("10.0.0.1", "ok", "a")});

  EXPECT_TRUE(is_good(verdicts));
  ASSERT_EQ(verdicts.passages.size(), 2);
  EXPECT_EQ(verdicts.passages[0].round_trip, "1.2 ms");
  EXPECT_EQ(verdicts.passages[0].mtu, "1500/1500");
  EXPECT_THAT(verdicts.problems, IsEmpty());
}

TEST(Reachability, TellsTheReasonsApart) {
  for (const auto& [state, advice] :
       {std::pair("no-route", "no route"), {"mtu", "wrong MTU"}, {"no-answer", "no answer"}}) {
    const auto verdicts =
        judge(two(), {answer("10.0.0.2", state, "b"), answer("10.0.0.1", "ok", "a")});
    EXPECT_FALSE(is_good(verdicts));
    EXPECT_THAT(verdicts.problems, Contains(HasSubstr(advice))) << state;
  }
}

TEST(Reachability, FindsAnAddressThatIsUsedTwice) {
  std::vector<Station> same = two();
  same[1].addresses = {"10.0.0.1"};
  const auto of_pods = judge(same, {json::Object(), json::Object()});
  json::Object heard = answer("10.0.0.2", "ok", "b");
  heard.set("duplicates", json::Array{json::Object{{"address", "10.0.0.1"}, {"mac", "0a:00"}}});
  const auto of_others = judge(two(), {heard, answer("10.0.0.1", "ok", "a")});
  const auto of_answers =
      judge(two(), {answer("10.0.0.2", "ok", "stranger"), answer("10.0.0.1", "ok", "a")});

  EXPECT_THAT(of_pods.problems, Contains("address 10.0.0.1 is used twice: by pods a and b"));
  EXPECT_THAT(of_others.problems,
              Contains("address 10.0.0.1 is used twice: by pod a and the station 0a:00"));
  EXPECT_EQ(of_answers.passages[0].state, "duplicate-address");
  EXPECT_THAT(of_answers.problems, Contains(HasSubstr("duplicate address")));
}

TEST(Reachability, SaysThatNoneAskedForStrangersWherePodsMayNot) {
  json::Object heard = answer("10.0.0.2", "ok", "b");
  heard.set("unasked", "ARP: operation not permitted");

  const auto verdicts = judge(two(), {heard, answer("10.0.0.1", "ok", "a")});

  EXPECT_TRUE(is_good(verdicts));
  EXPECT_THAT(verdicts.notes, testing::ElementsAre(HasSubstr("ARP: operation not permitted")));
  EXPECT_THAT(json::dump(to_json(verdicts)), HasSubstr("NET_RAW"));
}

TEST(Reachability, NamesThePodThatTakesNoPart) {
  std::vector<Station> stations = two();
  stations[1].why_not = "daemon away: x";
  const auto verdicts = judge(stations, {json::Object(), json::Object()});

  EXPECT_FALSE(is_good(verdicts));
  EXPECT_THAT(verdicts.problems,
              Contains(HasSubstr("node n2, pod b did not take part: daemon away")));
}

}  // namespace
}  // namespace mnet::multusctl
