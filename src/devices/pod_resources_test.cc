#include "devices/pod_resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "devices/proto_stream.h"
#include "devices/proto_text.h"

namespace mnet::devices {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

using Listed = std::map<PodName, DeviceIds>;

Result<Listed> read(std::string_view answer, std::set<PodName> wanted, std::size_t piece) {
  PodResourcesReader reader(std::move(wanted));
  for (; !answer.empty(); answer.remove_prefix(std::min(piece, answer.size()))) {
    auto fed = reader.feed(answer.substr(0, piece));
    if (!fed) return fed.error();
  }
  return reader.finish();
}
Result<Listed> read(std::string_view answer) { return read(answer, {{"n", "p"}}, answer.size()); }

std::string two_pods() {
  return pod_text("n", "other", {container_text("c", {{"r", {"z"}}})}) +
         pod_text(
             "n", "p",
             {container_text("side", {{"r", {"9"}}, {"s", {"x"}}}),
              container_text("b", {{"r", {"7"}}, {"r", {"3", "5"}}}), container_text("a", {})});
}

// 02, 12: row 78; pain 24
TEST(PodResources, AreSortedWithinEachContainerAndContainersKeepTheirOrder) {
  auto listed = read(two_pods());

  ASSERT_TRUE(listed.has_value()) << listed.error().text();
  EXPECT_THAT(*listed,
              ElementsAre(Pair(PodName{"n", "p"},
                               UnorderedElementsAre(Pair("r", ElementsAre("9", "3", "5", "7")),
                                                    Pair("s", ElementsAre("x"))))));
}

TEST(PodResources, AreReadInPiecesOfAnySize) {
  const Listed whole = *read(two_pods());
  for (std::size_t piece = 1; piece < 40; ++piece) {
    auto listed = read(two_pods(), {{"n", "p"}}, piece);
    ASSERT_TRUE(listed.has_value()) << piece << listed.error().text();
    EXPECT_EQ(*listed, whole) << piece;
  }
}

TEST(PodResources, OfAPodThatIsNamedAfterItsContainersCount) {
  const std::string containers = field(3, container_text("c", {{"r", {"1"}}}));
  const std::string answer = field(1, containers + field(1, "p") + field(2, "n")) +
                             field(1, containers + field(2, "n") + field(1, "other"));
  EXPECT_THAT(*read(answer),
              ElementsAre(Pair(PodName{"n", "p"}, ElementsAre(Pair("r", ElementsAre("1"))))));
}

TEST(PodResources, ThatAreNotAMessageAreAnError) {
  const std::string good = pod_text("n", "p", {container_text("c", {{"r", {"1"}}})});
  for (std::size_t size = 1; size < good.size(); ++size) {
    auto cut = read(good.substr(0, size));
    ASSERT_FALSE(cut.has_value()) << size;
    EXPECT_EQ(cut.error().code(), Errc::kProtocol);
  }
  const auto error_of = [](const std::string& bytes) {
    auto listed = read(bytes);
    return listed ? "" : listed.error().text();
  };
  EXPECT_THAT(error_of(std::string(11, '\xff')), HasSubstr("more than 64 bits"));
  EXPECT_THAT(error_of(std::string(1, '\x0b')), HasSubstr("unknown type"));
  EXPECT_THAT(error_of(std::string("\x02\x01", 2)), HasSubstr("without a number"));
  EXPECT_THAT(error_of(field(1, field(1, "p") + varint(2 << 3 | 2) + varint(99) + "n")),
              HasSubstr("runs past its message"));
  EXPECT_THAT(error_of(field(1, varint(2 << 3))), HasSubstr("runs past its message"));
  EXPECT_THAT(error_of(field(1, field(1, std::string(5000, 'p')))), HasSubstr("more than 4096"));
  EXPECT_THAT(error_of(varint(1 << 3 | 2) + varint(ProtoStream::kLargest + 1)),
              HasSubstr("past the one around"));
}

// Fields of numbers and those that newer kubelets will add.
TEST(PodResources, SkipWhatIsNotForUs) {
  const std::string fixed = varint(7 << 3 | 1) + std::string(8, 'f') + varint(8 << 3 | 5) + "ffff";
  const std::string answer =
      fixed + field(9, std::string(100'000, 'x')) +
      field(1, fixed + field(1, "p") + field(2, "n") + field(9, "y") +
                   field(3, field(7, "dynamic") + container_text("c", {{"r", {"1"}}})));
  EXPECT_THAT(*read(answer),
              ElementsAre(Pair(PodName{"n", "p"}, ElementsAre(Pair("r", ElementsAre("1"))))));
}

// A kubelet that listed so many would have us hold hundreds of megabytes for an answer of 16.
TEST(PodResources, AreLimitedInNumber) {
  std::string ids;
  for (std::size_t i = 0; i <= kMostDevices; ++i) ids += field(2, "i");
  const std::string container = field(3, field(2, field(1, "r") + ids));
  const auto pod = [&container](std::string_view name) {
    return field(1, field(1, name) + field(2, "n") + container);
  };

  auto of_others = read(pod("other") + pod("another"));
  auto ours = read(pod("p"));

  ASSERT_TRUE(of_others.has_value()) << of_others.error().text();
  EXPECT_THAT(*of_others, IsEmpty());
  ASSERT_FALSE(ours.has_value());
  EXPECT_THAT(ours.error().text(), HasSubstr("more than 65536 devices"));
}

// A name may have 4 KiB, and only those of pods that wait are kept.
TEST(PodResources, AreLimitedInBytes) {
  std::string ids, resources;
  for (std::size_t i = 0; i <= kMostBytes / 4000; ++i) {
    ids += field(2, std::string(4000, 'i'));
    resources += field(2, devices_text({cat(i, std::string(4000, 'r')), {"i"}}));
  }
  const auto pod = [](std::string_view name, std::string_view devices) {
    return field(1, field(1, name) + field(2, "n") + field(3, devices));
  };
  const std::string of_one = field(2, field(1, "r") + ids);

  for (const std::string& devices : {of_one, resources}) {
    EXPECT_TRUE(read(pod("other", devices) + pod("another", devices)).has_value());
    const auto ours = read(pod("p", devices));
    ASSERT_FALSE(ours.has_value());
    EXPECT_THAT(ours.error().text(), HasSubstr("more than 4194304 bytes of names"));
  }
}

TEST(PodResources, OfTheNodeAreLimitedInBytes) {
  AllocatableReader reader;
  Result<void> fed;
  for (std::size_t i = 0; fed && i <= kMostBytes / 4000 + 1; ++i) {
    fed = reader.feed(field(1, devices_text({cat(i, std::string(4000, 'r')), {"i"}})));
  }
  ASSERT_FALSE(fed.has_value());
  EXPECT_THAT(fed.error().text(), HasSubstr("bytes of names"));
}

TEST(PodResources, OfTheNodeAreCountedByResource) {
  AllocatableReader reader;

  ASSERT_TRUE(reader.feed(field(1, devices_text({"r", {"1", "2"}}))).has_value());
  ASSERT_TRUE(reader.feed(field(1, devices_text({"s", {"3"}}))).has_value());
  ASSERT_TRUE(
      reader.feed(field(1, devices_text({"r", {"4"}})) + varint(2 << 3) + varint(7)).has_value());

  EXPECT_THAT(*reader.finish(), UnorderedElementsAre(Pair("r", 3), Pair("s", 1)));
}

}  // namespace
}  // namespace mnet::devices
