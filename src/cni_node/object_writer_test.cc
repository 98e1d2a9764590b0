#include "cni_node/object_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/fake_timer.h"
#include "aio/run.h"
#include "base/log.h"
#include "base/text.h"
#include "cni_node/object_server.h"
#include "cni_node/objects.h"
#include "http/scripted_server.h"
#include "json/json.h"
#include "kube/fake_api.h"
#include "kube/kube.h"
#include "kube/retries.h"
#include "nodetools/output.h"
#include "sys/test_dir.h"

namespace mnet::cni_node {
namespace {

using namespace std::chrono_literals;
using http::Peer;
using http::RawRequest;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::string_view kCore = R"({"resources":[
  {"name":"configmaps","singularName":"configmap","kind":"ConfigMap","namespaced":true},
  {"name":"configmaps/status","kind":"ConfigMap","namespaced":true}]})";
constexpr std::string_view kRbac = R"({"resources":[
  {"name":"clusterrolebindings","singularName":"clusterrolebinding","kind":"ClusterRoleBinding",
   "namespaced":false}]})";
constexpr std::string_view kExtensions = R"({"resources":[
  {"name":"customresourcedefinitions","singularName":"customresourcedefinition",
   "kind":"CustomResourceDefinition","namespaced":false}]})";

std::string map(std::string_view name) {
  return cat("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ", name, "}\ndata: {x: \"1\"}\n");
}

// Serves discovery; everything else is answered by the test. Remembers what was written and read.
class Writing : public testing::Test {
 protected:
  void serve(kube::FakeApi::Answer answer, kube::ApiSettings with = {}) {
    answer_ = std::move(answer);
    server = std::make_unique<kube::FakeApi>([this](Peer& peer, const RawRequest& request) {
      if (request.target() == "/api/v1") return peer.answer(200, kCore);
      if (request.target() == "/apis/rbac.authorization.k8s.io/v1") return peer.answer(200, kRbac);
      if (request.target() == "/apis/apiextensions.k8s.io/v1") return peer.answer(200, kExtensions);
      {
        const std::lock_guard lock(mutex_);
        objects_.push_back(cat(request.method(), " ", request.target()));
        bodies_.push_back(request.body);
        types_.push_back(request.header("Content-Type"));
      }
      answer_(peer, request);
    });
    api = server->client(std::move(with));
    writer = std::make_unique<ObjectWriter>(*api, settings, output);
  }
  std::string apply(std::string_view text) {
    const auto done = aio::run(loop, writer->apply("m.yaml", parse_manifest(text).value()));
    return done ? "" : done.error().text();
  }
  std::string remove(std::string_view text) {
    std::vector<ObjectName> names;
    for (const auto& object : parse_manifest(text).value()) names.push_back(object.id);
    const auto done = aio::run(loop, writer->remove("m.yaml", names));
    return done ? "" : done.error().text();
  }
  std::vector<std::string> asked() {
    const std::lock_guard lock(mutex_);
    return objects_;
  }

  aio::asio::io_context loop;  // outlives the connections
  // Repeats with hardly a pause.
  static kube::Retries quick_retries() {
    kube::Retries out = kube::tool_retries();
    out.first_pause = 2ms;
    out.longest_pause = 5ms;
    return out;
  }
  WriterSettings settings{
      .ns = "ns1", .wait_time = 2s, .retries = quick_retries(), .poll = 5ms, .longest_poll = 10ms};
  nodetools::RecordedOutput output;
  std::unique_ptr<kube::FakeApi> server;
  std::unique_ptr<kube::Api> api;
  std::unique_ptr<ObjectWriter> writer;
  std::mutex mutex_;
  std::vector<std::string> objects_, bodies_, types_;
  kube::FakeApi::Answer answer_;
};

// 04, 4: row 52.
TEST_F(Writing, AppliesOnTheServersSide) {
  serve([](Peer& peer, const RawRequest&) { peer.answer(201, "{}"); });

  EXPECT_EQ(apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, uid: u, resourceVersion: "
                  "\"1\", managedFields: []}\ndata: {x: \"1\"}\n"),
            "");

  EXPECT_THAT(asked(),
              ElementsAre("PATCH /api/v1/namespaces/ns1/configmaps/a?fieldManager=cni-node&"
                          "force=true"));
  EXPECT_EQ(types_[0], "application/apply-patch+yaml");
  EXPECT_EQ(bodies_[0], R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a",)"
                        R"("namespace":"ns1"},"data":{"x":"1"}})");
  EXPECT_EQ(output.printed, "configmap/a created\n");
}

// 04, 4: row 53.
TEST_F(Writing, LeavesOutANamespaceWhereThereIsNone) {
  serve([](Peer& peer, const RawRequest&) { peer.answer(200, "{}"); });

  EXPECT_EQ(apply("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: "
                  "{name: 'a:b', namespace: x}\n"),
            "");

  EXPECT_THAT(asked(), ElementsAre(HasSubstr(
                           "PATCH /apis/rbac.authorization.k8s.io/v1/clusterrolebindings/a%3Ab?")));
  EXPECT_EQ(output.printed,
            "clusterrolebinding.rbac.authorization.k8s.io/a:b serverside-applied\n");
  EXPECT_THAT(output.complaints, HasSubstr("m.yaml: ClusterRoleBinding a:b has no namespace"));
  EXPECT_THAT(bodies_[0], testing::Not(HasSubstr("namespace")));
}

// 04, 4: rows 54 and 55.
TEST_F(Writing, AppliesInOrderAndDeletesInReverse) {
  const std::string manifest =
      cat(map("a"), "---\n# nothing\n---\n---\n", map("b"),
          "---\napiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: ConfigMap, metadata: "
          "{name: c}}\n- {apiVersion: v1, kind: ConfigMap, metadata: {name: d}}\n");
  serve([](Peer& peer, const RawRequest& request) {
    peer.answer(request.method() == "GET" ? 404 : 200, "{}");
  });

  EXPECT_EQ(apply(manifest), "");
  EXPECT_EQ(output.printed,
            "configmap/a serverside-applied\nconfigmap/b serverside-applied\n"
            "configmap/c serverside-applied\nconfigmap/d serverside-applied\n");
  output.printed.clear();
  objects_.clear();
  bodies_.clear();
  EXPECT_EQ(remove(manifest), "");

  EXPECT_EQ(output.printed,
            "configmap \"d\" deleted\nconfigmap \"c\" deleted\n"
            "configmap \"b\" deleted\nconfigmap \"a\" deleted\n");
  EXPECT_EQ(asked()[0], "DELETE /api/v1/namespaces/ns1/configmaps/d");
  EXPECT_EQ(bodies_[0],
            R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background"})");
}

// 04, 4: row 56.
TEST_F(Writing, WaitsForADefinitionBeforeItsObjects) {
  std::atomic<int> looks = 0;
  std::atomic<bool> is_established = false;
  serve([&](Peer& peer, const RawRequest& request) {
    if (request.target() == "/apis/x.io/v1") {
      if (!is_established) return peer.answer(404, "{}");
      return peer.answer(200, R"({"resources":[{"name":"things","singularName":"thing",)"
                              R"("kind":"Thing","namespaced":true}]})");
    }
    if (request.method() == "GET") is_established = ++looks > 3;
    peer.answer(200, cat(R"({"status":{"conditions":[{"type":"Established","status":")",
                         is_established ? "True" : "False", R"("}]}})"));
  });

  EXPECT_EQ(
      apply("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: "
            "{name: things.x.io}\n---\napiVersion: x.io/v1\nkind: Thing\nmetadata: {name: t}\n"),
      "");

  EXPECT_THAT(asked().back(), HasSubstr("PATCH /apis/x.io/v1/namespaces/ns1/things/t?"));
  EXPECT_EQ(looks, 4);
  EXPECT_EQ(output.printed,
            "customresourcedefinition.apiextensions.k8s.io/things.x.io serverside-applied\n"
            "thing.x.io/t serverside-applied\n");
}

TEST_F(Writing, FailsIfADefinitionIsNotEstablishedInTime) {
  settings.wait_time = 20ms;
  serve([](Peer& peer, const RawRequest&) { peer.answer(200, "{}"); });

  EXPECT_THAT(
      apply("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: "
            "{name: things.x.io}\n"),
      HasSubstr("things.x.io: not established in time"));
}

// 04, 4: row 57.
TEST_F(Writing, RefusesAnUnknownKindBeforeAnythingIsWritten) {
  const std::string manifest =
      cat(map("a"), "---\napiVersion: v1\nkind: Nope\nmetadata: {name: b}\n");
  serve([](Peer& peer, const RawRequest&) { peer.answer(404, "{}"); });

  EXPECT_EQ(apply(manifest), "document 2: no matches for kind \"Nope\" in version \"v1\"");
  EXPECT_THAT(asked(), IsEmpty());
  EXPECT_EQ(apply("apiVersion: g.io/v1\nkind: Nope\nmetadata: {name: b}\n"),
            "document 1: no matches for kind \"Nope\" in version \"g.io/v1\"");

  EXPECT_EQ(remove("apiVersion: g.io/v1\nkind: Nope\nmetadata: {name: b}\n"), "");
  EXPECT_EQ(output.printed, "nope.g.io \"b\" not found, skipped\n");
}

// 04, 4: row 58.
TEST_F(Writing, TakesAMissingObjectForDeleted) {
  serve([](Peer& peer, const RawRequest&) { peer.answer(404, "{}"); });

  EXPECT_EQ(remove(map("a")), "");
  EXPECT_EQ(output.printed, "configmap \"a\" not found, skipped\n");
}

// 04, 4: row 59.
TEST_F(Writing, RepeatsAWriteThatMetAnother) {
  std::atomic<int> tries = 0;
  serve([&](Peer& peer, const RawRequest&) { peer.answer(++tries < 3 ? 409 : 200, "{}"); });

  EXPECT_EQ(apply(map("a")), "");
  EXPECT_EQ(asked().size(), 3u);
}

TEST_F(Writing, GivesUpAfterFiveTries) {
  serve([](Peer& peer, const RawRequest&) { peer.answer(500, R"({"message":"broken"})"); });

  EXPECT_EQ(apply(map("a")), "configmap/a: broken");
  EXPECT_EQ(asked().size(), 5u);
}

// 04, 4: row 60.
TEST_F(Writing, HonoursRetryAfter) {
  std::atomic<int> tries = 0;
  serve([&](Peer& peer, const RawRequest&) {
    if (++tries == 1) return peer.answer(503, "{}", "Retry-After: 1\r\n");
    peer.answer(200, "{}");
  });
  const auto began = std::chrono::steady_clock::now();

  EXPECT_EQ(apply(map("a")), "");

  EXPECT_GE(std::chrono::steady_clock::now() - began, 1s);
}

// Many nodes write at once, and are refused at once.
TEST_F(Writing, KeepsNodesApartThatAreAskedToWaitForTheSameTime) {
  for (const double random : {0.0, 1.0}) {
    aio::FakeTimer timer;
    settings.retries = kube::tool_retries();
    serve([](Peer& peer, const RawRequest&) { peer.answer(503, "{}", "Retry-After: 10\r\n"); },
          {.random = [random] { return random; }, .timer = &timer});

    EXPECT_NE(apply(map("a")), "");

    EXPECT_THAT(timer.waits(), AllOf(SizeIs(4), Each(random == 0.0 ? 10s : 12s)));
  }
}

TEST_F(Writing, WaitsLongerAndLongerWhileAnObjectCannotBeCreated) {
  aio::FakeTimer timer;
  settings.retries = kube::tool_retries();
  serve(
      [](Peer& peer, const RawRequest& request) {
        if (request.method() == "PATCH") return peer.answer(403, R"({"message":"no PATCH"})");
        peer.answer(request.method() == "GET" ? 404 : 503, R"({"message":"broken"})");
      },
      {.random = [] { return 0.5; }, .timer = &timer});

  EXPECT_EQ(apply(map("a")), "configmap/a: broken");

  EXPECT_THAT(timer.waits(), ElementsAre(500ms, 1s, 2s, 4s));
}

TEST_F(Writing, SaysThatAnObjectIsCreatedByOthersAgainAndAgain) {
  aio::FakeTimer timer;
  settings.retries = kube::tool_retries();
  serve(
      [](Peer& peer, const RawRequest& request) {
        if (request.method() == "PATCH") return peer.answer(403, R"({"message":"no PATCH"})");
        peer.answer(request.method() == "GET" ? 404 : 409, R"({"message":"it exists"})");
      },
      {.random = [] { return 0.5; }, .timer = &timer});

  EXPECT_EQ(apply(map("a")), "configmap/a: it exists");
  EXPECT_THAT(timer.waits(), ElementsAre(500ms, 1s, 2s, 4s));
  EXPECT_EQ(asked().size(), 11u);  // the PATCH, and five times GET and POST
}

// 04, 4: row 61.
TEST_F(Writing, ShowsARefusalAndDoesNotRepeatIt) {
  serve([](Peer& peer, const RawRequest& request) {
    peer.answer(403, cat(R"({"message":"no )", request.method(), R"("})"));
  });

  EXPECT_EQ(apply(map("a")), "configmap/a: no GET");
  EXPECT_EQ(asked().size(), 2u);
}

TEST_F(Writing, DoesNotRepeatWhatIsFinal) {
  for (const int status : {400, 405, 415, 422}) {
    objects_.clear();
    serve([&](Peer& peer, const RawRequest&) { peer.answer(status, R"({"message":"wrong"})"); });

    EXPECT_EQ(apply(map("a")), "configmap/a: wrong");
    EXPECT_EQ(asked().size(), 1u);
  }
}

TEST_F(Writing, LooksForThePathAnewAfterNotFound) {
  std::atomic<int> tries = 0;
  serve([&](Peer& peer, const RawRequest&) {
    peer.answer(++tries == 1 ? 404 : 200, R"({"message":"namespaces \"ns1\" not found"})");
  });

  EXPECT_EQ(apply(map("a")), "");
  tries = -9;
  serve([](Peer& peer, const RawRequest&) { peer.answer(404, R"({"message":"no namespace"})"); });
  EXPECT_EQ(apply(map("a")), "configmap/a: no namespace");
}

// 04, 4: row 62.
TEST_F(Writing, UsesANewTokenWhenTheOldOneIsRefused) {
  const sys::TestDir dir;
  dir.write("token", "old");
  serve([&](Peer& peer, const RawRequest& request) {
    if (request.header("Authorization") == "Bearer new") return peer.answer(200, "{}");
    dir.write("token", "new");
    peer.answer(401, "{}");
  });
  kube::Config config{.server = server->url()};
  config.token.file = dir / "token";
  api = *kube::Api::make(config, {}, Log());
  ObjectWriter own(*api, settings, output);

  const auto done = aio::run(loop, own.apply("m.yaml", parse_manifest(map("a")).value()));

  EXPECT_TRUE(done.has_value());
  EXPECT_EQ(asked().size(), 2u);
}

// 04, 4: row 63.
TEST_F(Writing, WaitsForAnObjectToBeGone) {
  const auto answer = [](Peer& peer, const RawRequest&) {
    peer.answer(202, R"({"metadata":{"uid":"u","finalizers":["x.io/hold"]}})");
  };
  settings.wait_time = 30ms;
  serve(answer);
  EXPECT_EQ(remove(map("a")), "configmap/a: not deleted in time: finalizers [\"x.io/hold\"]");

  settings.wait_time = 0ms;
  serve(answer);
  EXPECT_EQ(remove(map("a")), "");
  EXPECT_EQ(output.printed, "configmap \"a\" deleted\n");
}

TEST_F(Writing, TakesAnotherObjectOfTheSameNameForGone) {
  serve([](Peer& peer, const RawRequest& request) {
    const bool is_delete = request.method() == "DELETE";
    peer.answer(200, is_delete ? R"({"details":{"uid":"1"}})" : R"({"metadata":{"uid":"2"}})");
  });
  EXPECT_EQ(remove(map("a")), "");

  serve([](Peer& peer, const RawRequest& request) {
    peer.answer(request.method() == "DELETE" ? 200 : 403, R"({"metadata":{"uid":"1"}})");
  });
  EXPECT_EQ(remove(map("b")), "");
}

// 04, 4: row 111.
TEST_F(Writing, WithoutTheRightToPatchCreatesWhatIsMissing) {
  std::string live;
  serve([&](Peer& peer, const RawRequest& request) {
    if (request.method() == "PATCH") return peer.answer(403, R"({"message":"cannot patch"})");
    if (request.method() == "GET") return peer.answer(live.empty() ? 404 : 200, live);
    peer.answer(201, "{}");
  });

  EXPECT_EQ(apply(map("a")), "");
  EXPECT_THAT(asked(), ElementsAre(HasSubstr("PATCH "), "GET /api/v1/namespaces/ns1/configmaps/a",
                                   "POST /api/v1/namespaces/ns1/configmaps?fieldManager=cni-node"));
  EXPECT_EQ(bodies_[2], bodies_[0]);

  live = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"ns1",)"
         R"("uid":"u"},"data":{"x":"1","y":"2"}})";
  EXPECT_EQ(apply(map("a")), "");
  live.replace(live.find("\"1\""), 3, "\"2\"");
  EXPECT_THAT(apply(map("a")), AllOf(HasSubstr("cannot patch"), HasSubstr("right to patch")));
  EXPECT_EQ(output.printed, "configmap/a created\nconfigmap/a unchanged\n");
}

TEST_F(Writing, ComparesAgainWhenSomebodyElseWasFaster) {
  std::atomic<int> gets = 0;
  serve([&](Peer& peer, const RawRequest& request) {
    if (request.method() == "PATCH") return peer.answer(403, "{}");
    if (request.method() == "POST") return peer.answer(409, "{}");
    peer.answer(++gets == 1 ? 404 : 200,
                R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a",)"
                R"("namespace":"ns1"},"data":{"x":"1"}})");
  });

  EXPECT_EQ(apply(map("a")), "");
  EXPECT_EQ(output.printed, "configmap/a unchanged\n");
}

TEST_F(Writing, TriesAgainToCreateWhenTheAnswerIsNone) {
  std::atomic<int> posts = 0;
  serve([&](Peer& peer, const RawRequest& request) {
    if (request.method() == "PATCH") return peer.answer(403, "{}");
    if (request.method() == "GET") return peer.answer(404, "{}");
    if (++posts == 1) return peer.send("no answer\r\n\r\n");
    peer.answer(201, "{}");
  });

  EXPECT_EQ(apply(map("a")), "");
  EXPECT_EQ(posts, 2);
  EXPECT_EQ(output.printed, "configmap/a created\n");
}

TEST_F(Writing, ShowsDifferencesAndWritesNothingInADryRun) {
  settings.is_dry = true;
  serve([](Peer& peer, const RawRequest& request) {
    const bool is_get = request.method() == "GET";
    peer.answer(200, is_get ? R"({"data":{"x":"0"}})" : R"({"data":{"x":"1"}})");
  });

  EXPECT_EQ(apply(map("a")), "");
  EXPECT_EQ(remove(map("a")), "");

  EXPECT_THAT(output.printed, HasSubstr("-    \"x\": \"0\"\n+    \"x\": \"1\"\n"));
  EXPECT_THAT(output.printed, HasSubstr("configmap/a would be deleted"));
  for (const std::string& request : asked()) {
    EXPECT_TRUE(request.starts_with("GET ") || request.ends_with("&dryRun=All")) << request;
  }
}

TEST(IsContained, ComparesObjectsByMembersAndListsByElements) {
  const auto contained = [](std::string_view ours, std::string_view live) {
    return is_contained(json::parse(ours).value(), json::parse(live).value());
  };

  EXPECT_TRUE(contained(R"({"a":{"b":1}})", R"({"a":{"b":1.0,"c":2},"d":3})"));
  EXPECT_TRUE(contained(R"([{"a":1},2])", R"([{"a":1,"b":2},2])"));
  EXPECT_FALSE(contained(R"([1])", R"([1,2])"));
  EXPECT_FALSE(contained(R"({"a":null})", R"({})"));
  EXPECT_FALSE(contained(R"({"a":1})", R"([1])"));
}

}  // namespace
}  // namespace mnet::cni_node
