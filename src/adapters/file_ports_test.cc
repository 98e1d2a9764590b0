// The core over real files, real processes and a real network namespace. The plugin is a shell
// script that makes a link in the pod.
#include "adapters/file_ports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "adapters/exec_plugins.h"
#include "adapters/netns_links.h"
#include "aio/blocking_pool.h"
#include "aio/run.h"
#include "attach/attach.h"
#include "attach/request_text.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "chain/slots.h"
#include "cni/result.h"
#include "sys/file.h"
#include "sys/test_dir.h"
#include "sys/test_netns.h"

namespace mnet::adapters {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Says what it was asked in $CALLS; fails for interfaces that its configuration names.
constexpr const char* kPlugin = R"(#!/bin/sh
config=$(cat)
echo "$CNI_COMMAND $CNI_IFNAME" >> "$CALLS"
in_pod() { nsenter --net="$CNI_NETNS" "$@"; }
case "$CNI_COMMAND" in
ADD)
  in_pod ip link add "$CNI_IFNAME" type bridge || exit 1
  case "$config" in *"fail-$CNI_IFNAME"*) echo '{"code":11,"msg":"no luck"}'; exit 1;; esac
  echo '{"cniVersion":"1.0.0","interfaces":[{"name":"'$CNI_IFNAME'","sandbox":"'$CNI_NETNS'"}]}';;
DEL) in_pod ip link del "$CNI_IFNAME" 2>/dev/null;;
esac
exit 0
)";

class FilePortsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(pod_.is_fresh()) << "needs the right to make network namespaces";
    dir_.write("bin/fake", kPlugin, 0755);
  }
  ExecSettings settings() const {
    ExecSettings made;
    made.environment = {cat("CALLS=", dir_ / "calls"), "PATH=/usr/sbin:/usr/bin:/sbin:/bin"};
    return made;
  }
  attach::RequestText request(const std::string& more = "") {
    attach::RequestText what;
    what.netns = pod_.path();
    what.config = cat(R"({"cniVersion":"1.0.0","name":"m","type":"multus","cniDir":")",
                      dir_ / "cni", R"(","binDir":")", dir_ / "bin", R"(",)",
                      R"("delegates":[{"cniVersion":"1.0.0","name":"a","type":"fake"},)",
                      R"({"cniVersion":"1.0.0","name":"b","type":"fake")", more, "}]}");
    return what;
  }
  Result<cni::NetResult> add(attach::RequestText what) {
    return aio::run(loop_, attachments_.add(std::move(what)));
  }
  Result<void> del(attach::RequestText what) {
    return attach::complete(aio::run(loop_, attachments_.del(std::move(what))));
  }
  std::vector<std::string> links() {
    NetNsLinks links(pool_, "");
    return aio::run(loop_, links.look(pod_.path(), {"eth0", "net1"})).value().taken;
  }
  std::vector<std::string> calls() {
    const std::string text = sys::read_file(dir_ / "calls").value_or("");
    std::filesystem::remove(dir_ / "calls");
    std::vector<std::string> lines;
    for (const std::string_view line : split(trim(text), '\n')) lines.emplace_back(line);
    return lines;
  }
  std::vector<std::string> files() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(dir_ / "cni")) {
      if (entry.is_regular_file()) names.push_back(entry.path().filename());
    }
    std::ranges::sort(names);
    return names;
  }

  sys::TestNetNs pod_;
  sys::TestDir dir_;
  aio::asio::io_context loop_{1};
  aio::BlockingPool pool_{4};
  chain::UnlimitedSlots slots_;
  FilePorts ports_{pool_, slots_, settings(), Log()};
  attach::TextAttachments attachments_{ports_.ports(), Log()};
};

TEST_F(FilePortsTest, AddMakesLinksAndRecordsAndDelTakesThemAway) {
  auto added = add(request());
  ASSERT_TRUE(added) << added.error().text();
  EXPECT_EQ(added->interfaces.at(0).name, "eth0");
  EXPECT_THAT(links(), ElementsAre("eth0", "net1"));
  EXPECT_THAT(files(), ElementsAre("a-c1-eth0", "b-c1-net1", "c1", "c1.json"));

  // A lost reply: the same again, without a plugin run (pain 21).
  EXPECT_THAT(calls(), ElementsAre("ADD eth0", "ADD net1"));
  auto again = add(request());
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, *added);
  EXPECT_THAT(calls(), ElementsAre(""));

  ASSERT_TRUE(del(request()));
  EXPECT_THAT(calls(), ElementsAre("DEL net1", "DEL eth0"));
  EXPECT_THAT(links(), IsEmpty());
  EXPECT_THAT(files(), IsEmpty());
  EXPECT_TRUE(del(request()));
}

TEST_F(FilePortsTest, AFailedAddLeavesNoLinkBehind) {
  auto added = add(request(R"(,"x":"fail-net1")"));

  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().origin()->code, 11u);
  EXPECT_THAT(added.error().text(), HasSubstr("error adding container to network \"b\": no luck"));
  EXPECT_THAT(links(), IsEmpty());
  EXPECT_THAT(files(), ElementsAre("c1", "c1.json"));
  EXPECT_TRUE(del(request()));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(FilePortsTest, AForeignLinkStays) {
  ASSERT_EQ(pod_.run("ip link add net1 type bridge"), "");

  auto added = add(request());

  EXPECT_THAT(added.error().text(), HasSubstr("interface name net1 already exists"));
  EXPECT_THAT(links(), ElementsAre("net1"));
  EXPECT_THAT(calls(), ElementsAre(""));
}

TEST_F(FilePortsTest, ANamespaceThatIsNoneIsSaidToBe) {
  attach::RequestText what = request();
  what.netns = dir_ / "bin/fake";
  EXPECT_THAT(add(what).error().text(), HasSubstr(cat("no net namespace ", what.netns, " found")));
  what.netns = "/not/there";
  EXPECT_THAT(add(what).error().text(), HasSubstr("no net namespace /not/there found"));
}

TEST_F(FilePortsTest, NamespacesAreLookedUpWhereDelegatesSeeThem) {
  NetNsLinks links(pool_, "/proc/self/ns/mnt");
  EXPECT_THAT(aio::run(loop_, links.look(pod_.path(), {"eth0", "lo"})).value().taken,
              ElementsAre("lo"));
  EXPECT_FALSE(aio::run(loop_, links.look("/not/there", {"lo"})));
}

// 02, 12: row 149, in small
TEST_F(FilePortsTest, NoDescriptorIsLeftOpen) {
  const auto open = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  ASSERT_TRUE(add(request()));
  ASSERT_TRUE(del(request()));
  const auto before = open();

  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(add(request()));
    ASSERT_TRUE(del(request()));
    ASSERT_FALSE(add(request(R"(,"x":"fail-net1")")));
    ASSERT_TRUE(del(request()));
  }

  EXPECT_EQ(open(), before);
}

}  // namespace
}  // namespace mnet::adapters
