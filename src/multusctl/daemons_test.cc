// Against a server that says exactly what the test wants; tests/node_e2e has real daemons.
#include "multusctl/daemons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "http/scripted_server.h"
#include "kube/fake_api.h"
#include "multusctl/cluster.h"
#include "multusctl/commands.h"
#include "multusctl/invocation.h"
#include "nodetools/output.h"
#include "sys/test_dir.h"

namespace mnet::multusctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Answers = std::optional<Result<std::vector<NodeAnswer>>>;

// Refuses every exec, once it is released.
class Refusals {
 public:
  void answer(http::Peer& peer) {
    std::unique_lock lock(mutex_);
    ++asked_;
    released_.wait(lock, [this] { return !is_held_; });
    lock.unlock();
    peer.answer(403, R"({"kind":"Status","message":"not you"})");
  }
  void release() {
    const std::lock_guard lock(mutex_);
    is_held_ = false;
    released_.notify_all();
  }
  std::size_t asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable released_;
  bool is_held_ = true;
  std::size_t asked_ = 0;
};

Result<std::unique_ptr<Cluster>> cluster_at(const kube::FakeApi& server, const sys::TestDir& dir,
                                            nodetools::Output& output) {
  const std::string kubeconfig = dir.write(
      "kubeconfig", cat("current-context: c\nclusters: [{name: k, cluster: {server: '",
                        server.url(), "'}}]\ncontexts: [{name: c, context: {cluster: k}}]\n"));
  const auto line = parse_invocation("multusctl", {"status", "--kubeconfig", kubeconfig});
  const Surroundings surroundings{.output = output, .environment = {}};
  return Cluster::open(*line, surroundings);
}

class RunOnNodes : public testing::Test {
 protected:
  RunOnNodes() { cluster_ = *cluster_at(server_, dir_, output_); }
  ~RunOnNodes() override { refusals_.release(); }

  aio::Task<void> ask(std::vector<DaemonPod> pods) {
    answers_.emplace(co_await run_on_nodes(
        cluster_.get(), std::move(pods), {.command = {"x"}, .patience = std::chrono::seconds(60)}));
    co_return Result<void>();
  }

  const sys::TestDir dir_;
  Refusals refusals_;
  const kube::FakeApi server_{
      [this](http::Peer& peer, const http::RawRequest&) { refusals_.answer(peer); }};
  nodetools::RecordedOutput output_;
  std::unique_ptr<Cluster> cluster_;
  Answers answers_;
};

TEST_F(RunOnNodes, AsksSixteenSideBySideAndSaysOfEachWhyItDidNotAnswer) {
  std::vector<DaemonPod> pods;
  for (int i = 0; i < 40; ++i) {
    pods.push_back(
        {.node = cat("n", i), .ns = "kube-system", .name = cat("d", i), .container = ""});
  }
  pods[5].why_not = "the daemon's pod is Pending";
  aio::Group group(cluster_->loop().get_executor(), Log());
  group.spawn("survey", ask(pods));

  ASSERT_TRUE(kube::drive(cluster_->loop(), [this] { return refusals_.asked() == 16; }));
  for (int i = 0; i < 10; ++i) cluster_->loop().run_one_for(std::chrono::milliseconds(20));
  EXPECT_EQ(refusals_.asked(), 16u) << "the seventeenth waits";
  refusals_.release();
  ASSERT_TRUE(kube::drive(cluster_->loop(), [this] { return answers_.has_value(); }));

  ASSERT_TRUE(answers_->has_value()) << answers_->error().text();
  const std::vector<NodeAnswer>& answers = **answers_;
  ASSERT_EQ(answers.size(), pods.size());
  EXPECT_EQ(refusals_.asked(), pods.size() - 1);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].node, pods[i].node);
    ASSERT_FALSE(answers[i].answer.has_value());
    EXPECT_THAT(answers[i].answer.error().text(),
                HasSubstr(i == 5 ? "the daemon's pod is Pending" : "needs the right to get"));
  }
}

TEST_F(RunOnNodes, SaysHowManyHaveAnsweredOnOneLine) {
  refusals_.release();
  const DaemonPod pod{.node = "n", .ns = "net", .name = "d", .container = ""};

  testing::internal::CaptureStderr();
  const auto answers = aio::run(
      cluster_->loop(),
      run_on_nodes(cluster_.get(), {pod, pod, pod}, {.command = {"x"}, .shows_progress = true}));
  const std::string shown = testing::internal::GetCapturedStderr();

  ASSERT_TRUE(answers.has_value());
  EXPECT_EQ(shown, "\r1/3 nodes\r2/3 nodes\r3/3 nodes\n");
}

std::string why_of_only_node(std::string_view pods) {
  const kube::FakeApi server([pods](http::Peer& peer, const http::RawRequest& request) {
    const bool is_nodes = request.target().starts_with("/api/v1/nodes");
    peer.answer(200, cat(R"({"metadata":{},"items":[)",
                         is_nodes ? R"({"metadata":{"name":"n1"}})" : pods, "]}"));
  });
  const sys::TestDir dir;
  nodetools::RecordedOutput output;
  const auto cluster = *cluster_at(server, dir, output);
  const auto found = aio::run(cluster->loop(), find_daemons(cluster.get(), "net", {"n1"}));
  return found ? found->front().why_not : found.error().text();
}

TEST(FindDaemons, SaysWhereElseToLookIfTheNamespaceHasNone) {
  const auto is_not_there =
      HasSubstr("no pod labelled app=multus in namespace net is on this node");
  const auto looks_elsewhere = HasSubstr("`kubectl get pods -A -l app=multus`");

  EXPECT_THAT(why_of_only_node(""), AllOf(is_not_there, looks_elsewhere));
  EXPECT_THAT(why_of_only_node(R"({"metadata":{"name":"d"},"spec":{"nodeName":"n2"}})"),
              AllOf(is_not_there, Not(looks_elsewhere)));
}

std::string namespace_for(const std::vector<std::string>& words) {
  const auto line = parse_invocation("multusctl", words);
  return line ? daemon_namespace(*line) : line.error().text();
}

TEST(DaemonNamespace, IsThatOfTheFlagThatTheCommandHasForIt) {
  EXPECT_EQ(namespace_for({"status"}), "kube-system");
  EXPECT_EQ(namespace_for({"status", "-n", "net"}), "net");
  for (const char* command : {"explain", "lint", "test"}) {
    EXPECT_EQ(namespace_for({command, "-n", "default"}), "kube-system") << command;
    EXPECT_EQ(namespace_for({command, "-n", "default", "--daemon-namespace", "net"}), "net");
  }
}

}  // namespace
}  // namespace mnet::multusctl
