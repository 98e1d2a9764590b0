#include "cert_approver/approver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/run.h"
#include "base/log.h"
#include "base/test_log.h"
#include "base/text.h"
#include "certs/judge.h"
#include "certs/signing_request.h"
#include "certs/test_signer.h"
#include "http/scripted_server.h"
#include "json/json.h"
#include "kube/fake_api.h"
#include "kube/kube.h"

namespace mnet::cert_approver {
namespace {

using namespace std::chrono_literals;
using http::Peer;
using http::RawRequest;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string object_of(const std::string& name, const std::string& node, const std::string& pem) {
  return json::dump(json::Object{
      {"metadata", json::Object{{"name", name}, {"uid", "u-" + name}, {"resourceVersion", "1"}}},
      {"spec", json::Object{{"signerName", certs::kSigner},
                            {"request", to_base64(pem)},
                            {"username", "system:node:" + node},
                            {"groups", json::Array{"system:nodes"}},
                            {"usages", json::Array{"client auth", "digital signature"}},
                            {"expirationSeconds", 600}}}});
}

std::string object_text(const std::string& name, const std::string& node,
                        const std::string& common_name) {
  return object_of(name, node,
                   certs::request_for({.subject = {{"O", "system:multus"}, {"CN", common_name}}}));
}

// The part of an API server that keeps requests.
class Requests {
 public:
  std::function<int(const RawRequest&)> refuses = [](const RawRequest&) { return 0; };
  bool is_endless = false;  // each page of the list names another one

  void add(const std::string& name, const std::string& node = "node1") {
    const std::lock_guard lock(mutex_);
    objects_[name] = object_text(name, node, "system:multus:node1");
  }
  void add_text(const std::string& name, std::string text) {
    const std::lock_guard lock(mutex_);
    objects_[name] = std::move(text);
  }
  std::vector<std::string> puts() const {
    const std::lock_guard lock(mutex_);
    return puts_;
  }
  std::vector<std::string> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  void answer(Peer& peer, const RawRequest& request) {
    const std::lock_guard lock(mutex_);
    const std::string target = request.target();
    if (const int status = refuses(request); status != 0) {
      peer.answer(status, R"({"message":"refused by the test"})");
    } else if (target.find("/events") != std::string::npos) {
      events_.push_back(request.body);
      peer.answer(201, "{}");
    } else if (target.find("watch=true") != std::string::npos) {
      watch(peer);
    } else if (target.find('?') != std::string::npos) {
      list(peer);
    } else {
      one(peer, request);
    }
  }

 private:
  void watch(Peer& peer) {
    std::string text;
    for (const auto& [name, object] : objects_) {
      text += cat(R"({"type":"ADDED","object":)", object, "}\n");
    }
    text += R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9",)"
            R"("annotations":{"k8s.io/initial-events-end":"true"}}}})"
            "\n";
    peer.begin_chunks();
    peer.chunk(text);  // and stays open
  }
  void list(Peer& peer) {
    std::vector<std::string> items;
    for (const auto& [name, object] : objects_) items.push_back(object);
    peer.answer(200, cat(R"({"metadata":{"resourceVersion":"9","continue":")",
                         is_endless ? "again" : "", R"("},"items":[)", join(items, ","), "]}"));
  }
  void one(Peer& peer, const RawRequest& request) {
    const std::string target = request.target();
    std::string name = target.substr(certs::kRequestsPath.size() + 1);
    name = name.substr(0, name.find('/'));
    const auto found = objects_.find(name);
    if (found == objects_.end()) {
      peer.answer(404, "{}");
    } else if (request.method() == "GET") {
      peer.answer(200, found->second);
    } else if (found->second.find("AutoApproved") != std::string::npos) {
      peer.answer(409, "{}");
    } else {
      puts_.push_back(cat(target.substr(certs::kRequestsPath.size()), " ", request.body));
      found->second = request.body;
      peer.answer(200, request.body);
    }
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::string> objects_;
  std::vector<std::string> puts_, events_;
};

class ApproverTest : public testing::Test {
 protected:
  ApproverTest() {
    settings_.first_pause = 5ms;
    settings_.longest_pause = 20ms;
  }
  ~ApproverTest() override {
    group_.cancel();
    EXPECT_TRUE(aio::run(loop_, group_.join()).has_value());
  }
  void start() {
    approver_ = std::make_unique<Approver>(loop_.get_executor(),
                                           std::shared_ptr<kube::Api>(server_.client()), settings_,
                                           Log({lines_}, LogLevel::kVerbose));
    group_.spawn("approver", approver_->run());
  }
  bool becomes(const std::function<bool()>& condition) { return kube::drive(loop_, condition); }
  bool decides(std::size_t count) {
    return becomes([this, count] {
      return approver_->counters().approved + approver_->counters().denied >= count &&
             approver_->pending() == 0;
    });
  }

  aio::asio::io_context loop_;
  Requests requests_;
  kube::FakeApi server_{
      [this](Peer& peer, const RawRequest& request) { requests_.answer(peer, request); }};
  ApproverSettings settings_;
  std::shared_ptr<TestLog> lines_ = std::make_shared<TestLog>();
  std::unique_ptr<Approver> approver_;
  aio::Group group_{loop_.get_executor(), Log()};
};

TEST_F(ApproverTest, ApprovesThroughTheApprovalEndpointAndTellsIt) {
  requests_.add("csr-1");

  start();

  ASSERT_TRUE(decides(1));
  ASSERT_THAT(requests_.puts(), SizeIs(1));
  EXPECT_THAT(requests_.puts()[0], HasSubstr("/csr-1/approval {"));
  EXPECT_THAT(requests_.puts()[0],
              HasSubstr(R"({"type":"Approved","status":"True","reason":"AutoApproved",)"
                        R"("message":"Auto-approved CSR \"csr-1\""})"));
  ASSERT_TRUE(becomes([this] { return !requests_.events().empty(); }));
  EXPECT_THAT(requests_.events()[0],
              HasSubstr(R"(CSR \"csr-1\" has been approved by csr-approver)"));
  EXPECT_TRUE(approver_->is_synced());
}

// A node may ask as often as it likes, under names that come first.
TEST_F(ApproverTest, NodesTakeTurnsWhateverTheNamesOfTheirRequests) {
  settings_.at_once = 1;
  for (const char* name : {"a-1", "a-2", "a-3"}) requests_.add(name, "node2");
  requests_.add("z", "node1");

  start();

  ASSERT_TRUE(decides(4));
  ASSERT_THAT(requests_.puts(), SizeIs(4));
  EXPECT_THAT(requests_.puts()[0], HasSubstr("/a-1/approval"));
  EXPECT_THAT(requests_.puts()[1], HasSubstr("/z/approval"));
}

TEST_F(ApproverTest, DeniesThroughTheSameEndpoint) {
  requests_.add("csr-1", "node2");

  start();

  ASSERT_TRUE(decides(1));
  EXPECT_EQ(approver_->counters().denied, 1u);
  ASSERT_THAT(requests_.puts(), SizeIs(1));
  EXPECT_THAT(requests_.puts()[0], HasSubstr("/csr-1/approval {"));
  EXPECT_THAT(requests_.puts()[0], HasSubstr(R"("reason":"CSRDenied","message":"commonName)"));
  ASSERT_TRUE(becomes([this] { return !requests_.events().empty(); }));
  EXPECT_THAT(requests_.events()[0], HasSubstr(R"("type":"Warning")"));
}

// A node makes as many requests as it likes, and events may be kept in a storage of their own.
TEST_F(ApproverTest, KeepsFewEventsThatCannotBeWritten) {
  struct Told {
    std::mutex mutex;
    std::set<std::string> uids;
  };
  const auto told = std::make_shared<Told>();  // the server goes after this test's variables
  requests_.refuses = [told](const RawRequest& request) {
    if (!request.target().contains("/events")) return 0;
    const std::lock_guard lock(told->mutex);
    const auto uid = request.body.find("\"u-csr-");
    told->uids.insert(request.body.substr(uid, request.body.find('"', uid + 1) - uid));
    return 503;
  };
  for (int i = 0; i < 300; ++i) {
    requests_.add(cat("csr-", i), cat("node-", i));
  }

  start();

  ASSERT_TRUE(decides(300));
  const std::lock_guard lock(told->mutex);
  EXPECT_LE(told->uids.size(), 100u);
  EXPECT_GE(told->uids.size(), 1u);
}

// 03, 12: row 148
TEST_F(ApproverTest, TouchesNothingThatIsNotOurs) {
  requests_.add_text("csr-1", object_text("csr-1", "node1", "system:multus-x"));
  requests_.add_text("csr-2", R"({"metadata":{"name":"csr-2"},"spec":{"groups":7}})");
  requests_.add("csr-3");

  start();

  ASSERT_TRUE(decides(1));
  EXPECT_THAT(requests_.puts(), ElementsAre(HasSubstr("/csr-3/approval")));
}

// 03, 12: row 148
TEST_F(ApproverTest, SaysOnceWhyItLeavesAloneWhatItCannotRead) {
  const std::string good =
      certs::request_for({.subject = {{"O", "system:multus"}, {"CN", "system:multus:node1"}}});
  const std::string other = certs::request_for({.subject = {{"O", "system:masters"}, {"CN", "x"}}});
  requests_.add_text("csr-1", object_of("csr-1", "node1", certs::behind_a_long_line(good, other)));
  settings_.rescan = 5ms;
  std::atomic<int> lists = 0;
  requests_.refuses = [&lists](const RawRequest& request) {
    if (request.target().find("limit=") != std::string::npos) ++lists;
    return 0;
  };

  start();

  ASSERT_TRUE(becomes([&] { return approver_->is_synced() && lists >= 3; }));
  EXPECT_THAT(requests_.puts(), IsEmpty());
  const std::string said =
      "request csr-1 of \"system:node:node1\" is left alone: certificate request";
  const std::size_t at = lines_->text().find(said);
  ASSERT_NE(at, std::string::npos) << lines_->text();
  EXPECT_EQ(lines_->text().find(said, at + 1), std::string::npos) << lines_->text();
}

TEST_F(ApproverTest, DoesNotFollowAListWithoutEnd) {
  requests_.is_endless = true;
  settings_.rescan = 5ms;
  std::atomic<std::size_t> lists = 0;
  requests_.refuses = [&lists](const RawRequest& request) {
    if (request.target().find("limit=") != std::string::npos) ++lists;
    return 0;
  };

  start();

  ASSERT_TRUE(becomes([&] { return approver_->counters().failures > 0 || lists > 100; }));
  EXPECT_LE(lists.load(), 2 * (approver_->counters().failures + 1)) << "two pages of each scan";
  EXPECT_TRUE(lines_->has("the list did not end"));
}

// A client that may make requests may make them as large as the server allows; nothing is kept of
// these.
TEST_F(ApproverTest, LeavesAloneWhatIsLargerThanAnyOfOurs) {
  auto object = json::parse_object(object_text("csr-1", "node1", "system:multus:node1")).value();
  object.find("metadata")
      ->as_object()
      ->set("annotations", json::Object{{"ballast", std::string(20'000, 'x')}});
  requests_.add_text("csr-1", json::dump(object));
  requests_.add("csr-2");
  settings_.rescan = 5ms;
  std::atomic<int> lists = 0;
  requests_.refuses = [&lists](const RawRequest& request) {
    if (request.target().find("limit=") != std::string::npos) ++lists;
    return 0;
  };

  start();

  ASSERT_TRUE(decides(1));
  ASSERT_TRUE(becomes([&] { return lists >= 3; }));
  EXPECT_THAT(requests_.puts(), ElementsAre(HasSubstr("/csr-2/approval")));
  EXPECT_EQ(approver_->counters().failures, 0u);
}

// A node may make requests faster than they are decided.
TEST_F(ApproverTest, KeepsAFewRequestsOfEachRequester) {
  for (int i = 0; i < 100; ++i) requests_.add(cat("csr-", i), "node2");
  requests_.add("other", "node1");
  requests_.refuses = [](const RawRequest& request) {
    return request.method() == "PUT" && request.target().find("/csr-") != std::string::npos ? 503
                                                                                            : 0;
  };

  start();

  ASSERT_TRUE(becomes([this] { return approver_->counters().approved == 1; }));
  EXPECT_EQ(approver_->pending(), 32u);
}

TEST_F(ApproverTest, TellsOfSoManyThatItCannotRead) {
  const std::string good =
      certs::request_for({.subject = {{"O", "system:multus"}, {"CN", "system:multus:node1"}}});
  const std::string unreadable = certs::behind_a_long_line(good, good);
  for (int i = 0; i < 600; ++i) {
    const std::string name = cat("csr-", i);
    requests_.add_text(name, object_of(name, "node1", unreadable));
  }

  start();

  ASSERT_TRUE(becomes([this] { return approver_->is_synced(); }));
  EXPECT_EQ(
      std::ranges::count_if(lines_->lines(),
                            [](const std::string& line) { return line.contains("is left alone"); }),
      500);
}

// 03, 12: row 149
TEST_F(ApproverTest, ReadsARequestAgainThatSomebodyChanged) {
  requests_.add("csr-1");
  int conflicts = 1;
  requests_.refuses = [&conflicts](const RawRequest& request) {
    return request.method() == "PUT" && conflicts-- > 0 ? 409 : 0;
  };

  start();

  ASSERT_TRUE(decides(1));
  EXPECT_EQ(approver_->counters().conflicts, 1u);
  EXPECT_EQ(approver_->counters().failures, 0u);
}

// 03, 12: row 149
TEST_F(ApproverTest, GoesOnUntilTheServerIsThereAgain) {
  requests_.add("csr-1");
  int failures = 6;  // more than the original tries
  requests_.refuses = [&failures](const RawRequest& request) {
    return request.target().find("csr-1") != std::string::npos && failures-- > 0 ? 503 : 0;
  };

  start();

  ASSERT_TRUE(decides(1));
  EXPECT_EQ(approver_->counters().failures, 6u);
}

// 03, 12: row 149
TEST_F(ApproverTest, ForgetsARequestThatIsGone) {
  requests_.add("csr-1");
  requests_.refuses = [](const RawRequest& request) {
    return request.method() == "GET" && request.target().ends_with("csr-1") ? 404 : 0;
  };

  start();

  ASSERT_TRUE(becomes([this] { return approver_->is_synced() && approver_->pending() == 0; }));
  EXPECT_THAT(requests_.puts(), IsEmpty());
}

TEST_F(ApproverTest, SaysNothingOfADecisionThatFailed) {
  requests_.add("csr-1");
  requests_.refuses = [](const RawRequest& request) { return request.method() == "PUT" ? 403 : 0; };

  start();

  ASSERT_TRUE(becomes([this] { return approver_->counters().failures >= 3; }));
  EXPECT_THAT(requests_.events(), IsEmpty());
  EXPECT_EQ(approver_->pending(), 1u);
}

TEST_F(ApproverTest, FindsWhatTheWatchDidNotTellWhenItLooksAtAll) {
  settings_.rescan = 20ms;
  start();
  ASSERT_TRUE(becomes([this] { return approver_->is_synced(); }));

  requests_.add("csr-1");

  EXPECT_TRUE(decides(1));
}

TEST_F(ApproverTest, SeveralDecideOnce) {
  for (int i = 0; i < 20; ++i) requests_.add(cat("csr-", i));
  start();
  Approver other(loop_.get_executor(), std::shared_ptr<kube::Api>(server_.client()), settings_,
                 Log());
  aio::Group others(loop_.get_executor(), Log());
  others.spawn("other", other.run());

  EXPECT_TRUE(becomes([&] {
    return approver_->is_synced() && other.is_synced() &&
           approver_->pending() + other.pending() == 0;
  }));

  EXPECT_EQ(approver_->counters().approved + other.counters().approved, 20u);
  EXPECT_THAT(requests_.puts(), SizeIs(20));

  others.cancel();
  EXPECT_TRUE(aio::run(loop_, others.join()).has_value());
}

TEST(WithDecision, KeepsWhatIsThere) {
  const auto before =
      json::parse_object(R"({"a":1.50,"status":{"x":1,"conditions":[{"type":"Failed"}]}})");
  ASSERT_TRUE(before.has_value());

  const json::Object after = with_decision(*before, {certs::Verdict::Decision::kDeny, "no"});

  EXPECT_EQ(json::dump(after),
            R"({"a":1.50,"status":{"x":1,"conditions":[{"type":"Failed"},{"type":"Denied",)"
            R"("status":"True","reason":"CSRDenied","message":"no"}]}})");
}

}  // namespace
}  // namespace mnet::cert_approver
