#include "model/status_edit.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/network_status.h"

namespace mnet::model {
namespace {

NetworkStatus status(const std::string& name, const std::string& interface) {
  NetworkStatus one;
  one.name = name;
  one.interface = interface;
  return one;
}

std::string text_of(const std::vector<NetworkStatus>& statuses) {
  return status_text(statuses).text();
}

// 02, 2.4: the layout is the original's
TEST(StatusEdit, WritesTheOriginalsLayout) {
  auto text = with_statuses(std::nullopt, {status("a", "eth0"), status("b", "net1")});

  ASSERT_TRUE(text);
  EXPECT_EQ(text->text(), text_of({status("a", "eth0"), status("b", "net1")}));
}

TEST(StatusEdit, PutsNewEntriesBehindTheOthersInPlaceOfTheirOldOnes) {
  const std::string before =
      text_of({status("a", "eth0"), status("b", "net1"), status("c", "net2")});

  auto text = with_statuses(before, {status("b", "net1")});

  ASSERT_TRUE(text);
  EXPECT_EQ(text->text(), text_of({status("a", "eth0"), status("c", "net2"), status("b", "net1")}));
}

TEST(StatusEdit, DropsOnlyEntriesOfThatNetworkOnThoseInterfaces) {
  const std::string before =
      text_of({status("a", "eth0"), status("b", "net1"), status("b", "net2"), status("c", "net1")});

  auto text = without_statuses(before, "b", {"net1", "net9"});

  ASSERT_TRUE(text && *text);
  EXPECT_EQ(**text, text_of({status("a", "eth0"), status("b", "net2"), status("c", "net1")}));
}

TEST(StatusEdit, ChangesNothingIfThereIsNothingToDrop) {
  auto text = without_statuses(R"([ 1, {"name":"b"} ])", "b", {"net1"});

  ASSERT_TRUE(text);
  EXPECT_FALSE(text->has_value());
}

// 05, 4: rows 41, 43 and 44
TEST(StatusEdit, DropsWhatIsStaleAndAddsWhatIsMissingBehindTheOthers) {
  const std::string before =
      text_of({status("a", "eth0"), status("b", "net1"), status("b", "net1b"), status("x", "y")});

  auto text = with_changes(before, {{.network = "b", .ifnames = {"net1", "net1b"}}},
                           {status("x", "y"), status("c", "net1"), status("c", "net2")});

  ASSERT_TRUE(text && *text);
  EXPECT_EQ((*text)->text(), text_of({status("a", "eth0"), status("x", "y"), status("c", "net1"),
                                      status("c", "net2")}));
}

TEST(StatusEdit, ChangesNothingIfAllIsThereInWhateverOrder) {
  const std::string before = text_of({status("b", "net1"), status("a", "eth0")});

  auto text = with_changes(before, {{.network = "c", .ifnames = {"net1"}}}, {status("b", "net1")});

  ASSERT_TRUE(text);
  EXPECT_FALSE(text->has_value());
}

TEST(StatusEdit, RefusesWhatIsNoList) {
  for (const std::string text : {"x", "{}", "1", "[", "null"}) {
    EXPECT_FALSE(with_statuses(text, {status("a", "eth0")})) << text;
    EXPECT_FALSE(without_statuses(text, "a", {"eth0"})) << text;
  }
  EXPECT_TRUE(with_statuses("  ", {status("a", "eth0")}));
}

std::string text_of_empty_entries(std::size_t count) {
  std::string text = "[{}";
  for (std::size_t i = 1; i < count; ++i) text += ",{}";
  return text + "]";
}

// A pod's author may write the annotation, and every edit would read it on the event loop.
TEST(StatusEdit, RefusesMoreValuesThanAnyStatusHas) {
  const std::string text = text_of_empty_entries(80'000);

  EXPECT_FALSE(with_statuses(text, {status("a", "eth0")}));
  EXPECT_FALSE(without_statuses(text, "a", {"eth0"}));
  EXPECT_FALSE(with_changes(text, {}, {status("a", "eth0")}));
  EXPECT_TRUE(with_changes(text_of_empty_entries(9'000), {}, {status("a", "eth0")}));
}

// The longest that we write ourselves can be edited.
TEST(StatusEdit, TakesTheLongestStatus) {
  NetworkStatus crowded = status("a", "eth0");
  crowded.ips.assign(20'000, "");

  StatusText longest;
  for (std::size_t ips = 20'000; longest.text().size() < kMaxStatusText / 2; ips -= 500) {
    crowded.ips.resize(ips);
    longest = status_text({crowded});
  }

  EXPECT_TRUE(with_changes(longest.text(), {}, {status("b", "net1")}));
}

}  // namespace
}  // namespace mnet::model
