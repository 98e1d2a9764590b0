#include "certs/node_certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/fake_timer.h"
#include "aio/group.h"
#include "aio/run.h"
#include "base/error.h"
#include "base/log.h"
#include "base/test_clock.h"
#include "base/text.h"
#include "certs/judge.h"
#include "certs/pair_store.h"
#include "certs/signing_request.h"
#include "certs/test_signer.h"
#include "certs/x509.h"
#include "http/scripted_server.h"
#include "json/json.h"
#include "kube/fake_api.h"
#include "kube/kube.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::certs {
namespace {

using namespace std::chrono_literals;
using http::Peer;
using http::RawRequest;
using testing::ElementsAre;
using testing::HasSubstr;

Time now() { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); }

// Approves and signs what it is asked for, unless it is told otherwise.
class Signer {
 public:
  std::function<std::string(const RawRequest&)> refuses = [](const RawRequest&) { return ""; };
  std::function<std::string(int number)> denies = [](int) { return ""; };
  bool approves = true;
  bool streams = true;  // initial lists
  std::chrono::seconds begins = -5min, ends = 10min;

  void answer(Peer& peer, const RawRequest& request) {
    const std::lock_guard lock(mutex_);
    if (request.target().find("/events") != std::string::npos) {
      events_.push_back(request.body);
      peer.answer(201, "{}");
    } else if (request.method() == "POST") {
      create(peer, request);
    } else {
      watch(peer, request);
    }
  }

  std::vector<std::string> bodies() const {
    const std::lock_guard lock(mutex_);
    return bodies_;
  }
  std::vector<std::string> users() const {
    const std::lock_guard lock(mutex_);
    return users_;
  }
  std::vector<std::string> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }

 private:
  void create(Peer& peer, const RawRequest& request) {
    if (const std::string status = refuses(request); !status.empty()) {
      peer.answer(std::stoi(status), R"({"kind":"Status","message":"refused by the test"})");
      return;
    }
    users_.push_back(request.header("Authorization"));
    bodies_.push_back(request.body);
    const int number = static_cast<int>(bodies_.size());
    json::Object object = *json::parse_object(request.body);
    object.set("metadata", json::Object{{"name", cat("csr-", number)},
                                        {"uid", cat("u-", number)},
                                        {"resourceVersion", cat(number)}});
    const std::string plain = json::dump(object);
    decide(object, number);
    decided_[cat("csr-", number)] = json::dump(object);
    peer.answer(201, plain);
  }

  void decide(json::Object& object, int number) {
    const auto asked = parse_signing_request(object);
    const std::string denial = denies(number);
    json::Object status;
    if (!denial.empty()) {
      status.set("conditions", json::Array{json::Object{{"type", "Denied"}, {"message", denial}}});
    } else if (approves) {
      status.set("conditions", json::Array{json::Object{{"type", "Approved"}}});
      status.set("certificate", to_base64(sign(asked->request, now() + begins, now() + ends)));
    }
    object.set("status", std::move(status));
  }

  void watch(Peer& peer, const RawRequest& request) {
    const std::string& target = request.target();
    const std::string key = "metadata.name%3D";
    const auto at = target.find(key) + key.size();
    const std::string name = target.substr(at, target.find('&', at) - at);
    if (!streams && target.find("sendInitialEvents") != std::string::npos) {
      peer.answer(422, "{}");
      return;
    }
    if (!streams && target.find("watch=true") == std::string::npos) {
      peer.answer(200,
                  cat(R"({"metadata":{"resourceVersion":"9"},"items":[)", decided_[name], "]}"));
      return;
    }
    if (!streams) {
      peer.begin_chunks();  // and nothing more happens
      return;
    }
    peer.answer(200, cat(R"({"type":"ADDED","object":)", decided_[name], "}\n",
                         R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9",)",
                         R"("annotations":{"k8s.io/initial-events-end":"true"}}}})", "\n"));
  }

  mutable std::mutex mutex_;
  std::vector<std::string> bodies_, users_, events_;
  std::map<std::string, std::string> decided_;
};

class NodeCertificateTest : public testing::Test {
 protected:
  NodeCertificateTest() {
    settings_.node = "node1";
    settings_.directory = dir_ / "certs";
    settings_.bootstrap_kubeconfig = dir_.write(
        "bootstrap",
        cat("{\"current-context\":\"c\",\"contexts\":[{\"name\":\"c\",\"context\":{"
            "\"cluster\":\"c\",\"user\":\"u\"}}],\"clusters\":[{\"name\":\"c\","
            "\"cluster\":{\"server\":\"",
            server_.url(), "\"}}],\"users\":[{\"name\":\"u\",\"user\":{\"token\":\"boot\"}}]}"));
    settings_.first_pause = settings_.longest_pause = 10ms;
    settings_.first_denied = settings_.longest_denied = 10ms;
    settings_.shortest = 10ms;
    settings_.look = 10ms;
    settings_.wait.report = 10ms;
    settings_.random = [] { return 0.0; };
  }
  ~NodeCertificateTest() override {
    group_.cancel();
    EXPECT_TRUE(aio::run(loop_, group_.join()).has_value());
  }

  void start() {
    auto made = NodeCertificate::make(loop_.get_executor(), settings_, pool_, Log());
    ASSERT_TRUE(made.has_value()) << made.error().text();
    certificate_ = *std::move(made);
    group_.spawn("certificate", certificate_->run());
  }
  bool becomes(const std::function<bool()>& condition) { return kube::drive(loop_, condition); }
  bool becomes_usable() {
    return becomes([this] { return certificate_->is_usable(); });
  }
  std::optional<Pair> stored() const {
    auto loaded = PairStore(settings_.directory).load();
    return loaded ? *loaded : std::nullopt;
  }
  void store(const std::string& node, Time from, Time to) {
    const auto pair = parse_pair(pair_text(subject_of_node(node), from, to));
    ASSERT_TRUE(PairStore(settings_.directory).save(*pair, now()).has_value());
  }

  sys::TestDir dir_;
  aio::asio::io_context loop_;
  aio::BlockingPool pool_{1};
  Signer signer_;
  kube::FakeApi server_{
      [this](Peer& peer, const RawRequest& request) { signer_.answer(peer, request); }};
  TestClock clock_;  // for tests that set settings_.clock
  NodeCertificateSettings settings_;
  std::unique_ptr<NodeCertificate> certificate_;
  aio::Group group_{loop_.get_executor(), Log()};
};

TEST_F(NodeCertificateTest, TheFirstOneIsAskedForWithTheBootstrapCredentials) {
  start();

  ASSERT_TRUE(becomes([this] { return stored().has_value(); }));
  EXPECT_TRUE(certificate_->is_usable());
  EXPECT_EQ(stored()->subject, subject_of_node("node1"));
  ASSERT_GE(signer_.bodies().size(), 1u);
  EXPECT_EQ(signer_.users()[0], "Bearer boot");
  json::Object object = *json::parse_object(signer_.bodies()[0]);
  object.set("metadata", json::Object{{"name", "csr-1"}});
  const auto asked = parse_signing_request(object);
  ASSERT_TRUE(asked.has_value());
  EXPECT_EQ(asked->expiration_seconds, 600);
  EXPECT_EQ(asked->signer, kSigner);
}

TEST_F(NodeCertificateTest, IsFoundInAListOfAServerThatCannotStreamLists) {
  signer_.streams = false;

  start();

  EXPECT_TRUE(becomes_usable());
}

// 03, 12: row 144
TEST_F(NodeCertificateTest, AStoredOneIsTakenWithoutAskingForAnother) {
  store("node1", now() - 1min, now() + 1h);

  start();

  ASSERT_TRUE(becomes_usable());
  EXPECT_EQ(certificate_->expires(), stored()->not_after);
  EXPECT_TRUE(server_.asked().empty());
}

// 03, 12: row 142
TEST_F(NodeCertificateTest, AnExpiredOneIsReplacedWithTheBootstrapCredentials) {
  store("node1", now() - 1h, now() - 1min);

  start();

  ASSERT_TRUE(becomes_usable());
  EXPECT_EQ(signer_.users()[0], "Bearer boot");
}

// 03, 12: row 142
TEST_F(NodeCertificateTest, OneOfAnotherNodeIsReplaced) {
  store("node2", now() - 1min, now() + 1h);

  start();

  ASSERT_TRUE(
      becomes([this] { return stored() && stored()->subject == subject_of_node("node1"); }));
}

// 03, 12: row 142
TEST_F(NodeCertificateTest, ACorruptOneIsReplaced) {
  store("node1", now() - 1min, now() + 1h);
  dir_.write("certs/multus-client-2020-01-01-00-00-00.pem", "half a certi");
  std::filesystem::remove(dir_ / "certs/multus-client-current.pem");
  std::filesystem::create_symlink(dir_ / "certs/multus-client-2020-01-01-00-00-00.pem",
                                  dir_ / "certs/multus-client-current.pem");

  start();

  ASSERT_TRUE(becomes([this] { return stored().has_value(); }));
  EXPECT_GE(signer_.bodies().size(), 1u);
}

TEST_F(NodeCertificateTest, IsRenewedWithItself) {
  signer_.begins = -1h;  // 70 % of its life are over when it is issued
  start();

  ASSERT_TRUE(becomes([this] { return signer_.users().size() >= 3; }));

  EXPECT_EQ(signer_.users()[1], "");  // no token: plain HTTP shows no certificate
  EXPECT_EQ(signer_.users()[2], "");
  EXPECT_GE(certificate_->issued(), 2u);
}

TEST_F(NodeCertificateTest, FallsBackToTheBootstrapCredentialsWhenRefused) {
  store("node1", now() - 10h, now() + 1h);  // due
  signer_.refuses = [](const RawRequest& request) {
    return request.header("Authorization").empty() ? "401" : "";
  };

  start();

  ASSERT_TRUE(becomes([this] { return certificate_->issued() >= 1; }));
  EXPECT_EQ(signer_.users()[0], "Bearer boot");
}

TEST_F(NodeCertificateTest, AsksForAnotherWhenServersRefuseThisOne) {
  store("node1", now() - 1min, now() + 1h);
  std::uint64_t refusals = 0;
  start();
  certificate_->watch_refusals([&refusals] { return refusals; });
  ASSERT_TRUE(becomes_usable());
  EXPECT_EQ(certificate_->issued(), 0u);

  refusals = 1;

  EXPECT_TRUE(becomes([this] { return certificate_->issued() == 1; }));
}

// 03, 12: row 146
TEST_F(NodeCertificateTest, ADenialIsToldAndTheNextRequestIsMade) {
  signer_.denies = [](int number) { return number < 3 ? "not today" : ""; };
  std::string told;
  start();

  ASSERT_TRUE(becomes([&] {
    if (told.empty()) told = certificate_->waiting_for();
    if (told.find("denied") == std::string::npos) told.clear();
    return certificate_->is_usable();
  }));

  EXPECT_THAT(told, HasSubstr("was denied: not today"));
  EXPECT_GE(signer_.bodies().size(), 3u);
  EXPECT_EQ(certificate_->waiting_for(), "");
  EXPECT_TRUE(becomes([this] { return signer_.events().size() >= 2; }));
  EXPECT_THAT(signer_.events()[0], HasSubstr("CertificateNotIssued"));
  EXPECT_THAT(signer_.events()[1], HasSubstr("CertificateIssued"));
}

// What one node is denied, 5,000 are: each request is an object that stays for an hour.
TEST_F(NodeCertificateTest, AsksMoreAndMoreRarelyWhileItsRequestsAreDenied) {
  const NodeCertificateSettings usual;
  settings_.first_denied = usual.first_denied;
  settings_.longest_denied = usual.longest_denied;
  aio::FakeTimer timer(6);
  settings_.timer = &timer;
  signer_.denies = [](int) { return "never"; };
  start();

  ASSERT_TRUE(becomes([&] { return timer.waits().size() == 7; }));

  EXPECT_THAT(timer.waits(), ElementsAre(1min, 2min, 4min, 8min, 15min, 15min, 15min));
  EXPECT_EQ(certificate_->denied(), 7u);
  EXPECT_EQ(signer_.bodies().size(), 7u);
  group_.cancel();
  EXPECT_TRUE(aio::run(loop_, group_.join()).has_value());
}

TEST_F(NodeCertificateTest, SpreadsItsRequestsOverTime) {
  aio::FakeTimer timer(6);
  settings_.timer = &timer;
  settings_.random = [] { return 1.0; };
  settings_.first_denied = NodeCertificateSettings().first_denied;
  settings_.longest_denied = NodeCertificateSettings().longest_denied;
  signer_.denies = [](int) { return "never"; };
  start();

  ASSERT_TRUE(becomes([&] { return timer.waits().size() == 7; }));

  EXPECT_THAT(timer.waits(), ElementsAre(2min, 4min, 8min, 16min, 30min, 30min, 30min));
  group_.cancel();
  EXPECT_TRUE(aio::run(loop_, group_.join()).has_value());
}

// 03, 12: row 141
TEST_F(NodeCertificateTest, SaysThatItWaitsForTheApprover) {
  signer_.approves = false;

  start();

  EXPECT_TRUE(becomes([this] {
    return certificate_->waiting_for().find("csr-1 to be approved (by cert-approver, or `") !=
           std::string::npos;
  }));
  EXPECT_TRUE(becomes([this] { return !signer_.events().empty(); }));
  EXPECT_THAT(signer_.events()[0], HasSubstr("CertificatePending"));
  EXPECT_FALSE(certificate_->is_usable());
}

// pain 16
TEST_F(NodeCertificateTest, FilesThatSomebodyRemovesAreStoredAgain) {
  start();
  ASSERT_TRUE(becomes([this] { return stored().has_value(); }));

  std::filesystem::remove_all(dir_ / "certs");

  EXPECT_TRUE(becomes([this] { return stored().has_value(); }));
  EXPECT_TRUE(certificate_->is_usable());
  EXPECT_EQ(certificate_->issued(), 1u);
}

TEST_F(NodeCertificateTest, ANewerOneThatSomebodyPutsThereIsTaken) {
  start();
  ASSERT_TRUE(becomes([this] { return stored().has_value(); }));

  store("node1", now() - 1min, now() + 5h);

  EXPECT_TRUE(becomes([this] { return certificate_->expires() > now() + 4h; }));
}

TEST_F(NodeCertificateTest, IsUsedFromMemoryWhereItCannotBeStored) {
  dir_.write("certs", "a file");

  start();

  EXPECT_TRUE(becomes_usable());
  const kube::Config config = certificate_->client_config();
  EXPECT_THAT(config.certificate.source().value(), HasSubstr("BEGIN CERTIFICATE"));
  EXPECT_EQ(*sys::read_file(dir_ / "certs"), "a file");
}

TEST_F(NodeCertificateTest, AClockThatIsWrongDoesNotMakeItAskForEver) {
  signer_.begins = -2h;
  signer_.ends = -1h;  // expired, as this node sees it
  start();
  ASSERT_TRUE(becomes_usable());

  (void)becomes([start = std::chrono::steady_clock::now()] {
    return std::chrono::steady_clock::now() - start > 200ms;
  });

  EXPECT_TRUE(certificate_->is_usable());
  EXPECT_EQ(certificate_->issued(), 1u);
}

TEST_F(NodeCertificateTest, AnApiThatIsAwayIsWaitedFor) {
  int refused = 0;
  signer_.refuses = [&refused](const RawRequest&) { return ++refused < 4 ? "503" : ""; };

  start();

  EXPECT_TRUE(becomes_usable());
  EXPECT_EQ(refused, 4);
}

// A daemon that asked with it would hear of the answer only if its watch never broke.
TEST_F(NodeCertificateTest, OneThatExpiresWhileItsRenewalWaitsIsReplacedByTheBootstrapCredentials) {
  clock_.time = now();
  settings_.clock = &clock_;
  store("node1", now() - 10min, now() + 1min);  // due
  signer_.approves = false;
  start();
  ASSERT_TRUE(becomes([this] { return signer_.users().size() == 1; }));

  clock_.time += 2min;

  EXPECT_TRUE(becomes([this] { return signer_.users().size() == 2; }));
  EXPECT_THAT(signer_.users(), ElementsAre("", "Bearer boot"));
}

TEST_F(NodeCertificateTest, TakesNothingButServerAndAuthorityFromTheBootstrapFile) {
  start();

  const kube::Config config = certificate_->client_config();

  EXPECT_EQ(config.server, server_.url());
  EXPECT_TRUE(config.token.empty());
  EXPECT_EQ(config.certificate.source().error().code(), Errc::kUnavailable);
}

// 03, 12: row 145
TEST_F(NodeCertificateTest, RefusesWhatCanNeverWork) {
  const auto refusal = [this](const std::function<void(NodeCertificateSettings&)>& change) {
    NodeCertificateSettings settings = settings_;
    change(settings);
    const auto made = NodeCertificate::make(loop_.get_executor(), settings, pool_, Log());
    return made ? std::string() : made.error().text();
  };

  EXPECT_THAT(refusal([](auto& s) { s.node = ""; }), HasSubstr("MULTUS_NODE_NAME"));
  EXPECT_THAT(refusal([](auto& s) { s.node = "Node_1"; }), HasSubstr("Node_1"));
  EXPECT_THAT(refusal([](auto& s) { s.bootstrap_kubeconfig = "/nowhere"; }), HasSubstr("/nowhere"));
  dir_.write("bootstrap", "{not: [a kubeconfig");
  EXPECT_THAT(refusal([](auto&) {}), HasSubstr("bootstrap"));
}

// 03, 12: row 145
TEST(CertificateDuration, IsBetweenTenMinutesAndAYear) {
  EXPECT_EQ(parse_certificate_duration("").value(), 10min);
  EXPECT_EQ(parse_certificate_duration("1h30m").value(), 90min);
  EXPECT_EQ(parse_certificate_duration("8760h").value(), 8760h);
  for (const char* text : {"5m", "abc", "0", "-10m", "9m59s", "8760h1s", "999999999h"}) {
    EXPECT_FALSE(parse_certificate_duration(text).has_value()) << text;
  }
  EXPECT_THAT(parse_certificate_duration("5m").error().text(), HasSubstr("600"));
}

}  // namespace
}  // namespace mnet::certs
