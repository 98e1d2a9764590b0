#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "attach/attach.h"
#include "base/error.h"
#include "base/text.h"
#include "cni/args.h"
#include "cni/error.h"
#include "daemon/readiness.h"
#include "daemon/service_fixture.h"
#include "http/http.h"
#include "http/raw_client.h"
#include "sys/test_dir.h"
#include "wire/wire.h"

namespace mnet::daemon {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

std::string metrics_of(TestService& service) {
  return service.with([](Service& inside) { return inside.metrics.text(); });
}

// A daemon that executes this many requests at once.
ServiceOptions slots(int count) {
  ServiceOptions options;
  options.config = cat(R"({"connectionLimit":)", count, R"(,"clusterNetwork":"a"})");
  return options;
}

// The bytes of a request.
std::string posted(const std::string& body, std::string_view path = "/cni") {
  return cat("POST ", path, " HTTP/1.0\r\nContent-Length: ", body.size(), "\r\n\r\n", body);
}

void wait_for_line(TestService& service, std::size_t length) {
  while (service.with([](Service& inside) { return inside.requests.waiting(); }) != length) {
    std::this_thread::yield();
  }
}

TEST(Routes, AnswersProbesWhateverTheirBody) {
  TestService service;
  for (const char* path : {"/healthz", "/readyz"}) {
    for (const std::string& body : {std::string(), std::string("null"), std::string(1024, 'x')}) {
      for (const char* method : {"GET", "POST"}) {
        const auto response = service.ask(method, path, body);
        EXPECT_EQ(response.status, 200) << path << method;
        EXPECT_EQ(response.body, "");
        EXPECT_EQ(*http::find_header(response.headers, "Connection"), "close");
        EXPECT_EQ(http::find_header(response.headers, "Content-Type"), nullptr);
      }
    }
  }
}

// Our shim then sends its request there.
TEST(Routes, KeepsTheConnectionOfAProbeThatAsksForIt) {
  TestService service;
  for (const char* path : {"/healthz", "/readyz"}) {
    http::RawClient client(service.socket());
    client.send(cat("POST ", path, " HTTP/1.1\r\nHost: d\r\nContent-Length: 4\r\n",
                    "Connection: keep-alive\r\n\r\nnull"));
    EXPECT_THAT(client.read_until("\r\n\r\n"), HasSubstr("\r\nConnection: keep-alive\r\n"));

    client.send("GET /healthz HTTP/1.1\r\nHost: d\r\n\r\n");
    EXPECT_THAT(client.read_all(),
                AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), HasSubstr("\r\nConnection: close\r\n")));
  }
}

TEST(Routes, RefusesOtherMethods) {
  TestService service;
  for (const char* path : {"/cni", "/delegate", "/healthz", "/readyz"}) {
    for (const char* method : {"PUT", "DELETE", "HEAD", "FOO"}) {
      const auto response = service.ask(method, path);
      EXPECT_EQ(response.status, 405) << path << method;
      EXPECT_EQ(response.content_type, "text/plain; charset=utf-8");
      if (std::string(method) != "HEAD") EXPECT_EQ(response.body, "Method not allowed\n");
    }
  }
  EXPECT_EQ(service.ask("GET", "/cni").status, 405);
  EXPECT_THAT(metrics_of(service),
              HasSubstr("{code=\"405\",handler=\"/cni\",method=\"unknown\"} 1\n"));
}

TEST(Routes, KnowsNoOtherPath) {
  TestService service;
  for (const char* path : {"/", "/cni/", "//cni", "/CNI", "/metrics", "/cni%2f"}) {
    const auto response = service.ask("GET", path);
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_EQ(response.body, "");
  }
  EXPECT_THAT(metrics_of(service),
              HasSubstr("{code=\"404\",handler=\"NotFound\",method=\"get\"} 6"));
  EXPECT_TRUE(service.lines->has("[error] http not found: GET /CNI of pid "));
}

TEST(Routes, RefusesPeersOfAnotherUser) {
  ServiceOptions options;
  options.allowed_uid = ::getuid() + 1;
  TestService service(options);

  EXPECT_EQ(service.ask("GET", "/healthz").status, 403);
  EXPECT_EQ(service.ask("POST", "/cni", "{}").status, 403);
  EXPECT_THAT(service.order(), IsEmpty());
}

TEST(Routes, IsNotReadyWhenStoppingAndStaysHealthy) {
  TestService service;
  service.with([](Service& inside) { inside.readiness.stop(); });

  EXPECT_EQ(service.ask("POST", "/readyz", "null").status, 500);
  EXPECT_EQ(service.ask("GET", "/readyz").body, "");
  EXPECT_EQ(service.ask("POST", "/healthz", "null").status, 200);
  EXPECT_EQ(service.ask("POST", "/cni", request_body(env_of("DEL"), "{}")).status, 200);
}

TEST(Routes, IsNotReadyWithoutItsIndicatorAndRefusesAddButNotDel) {
  sys::TestDir dir;
  ServiceOptions options;
  options.config = cat(R"({"clusterNetwork":"a","readinessIndicatorFile":")", dir / "ready", "\"}");
  TestService service(options);
  const std::string waiting = cat("still waiting for readinessindicatorfile @ ", dir / "ready");

  const auto probe = service.ask("GET", "/readyz");
  EXPECT_EQ(probe.status, 500);
  EXPECT_EQ(probe.body, "");
  ASSERT_NE(http::find_header(probe.headers, kNotReadyHeader), nullptr);
  EXPECT_EQ(*http::find_header(probe.headers, kNotReadyHeader), waiting);
  const auto add = service.ask("POST", "/cni", request_body(env_of("ADD"), "{}"));
  EXPECT_EQ(add.status, 400);
  EXPECT_THAT(add.body, AllOf(StartsWith(R"({"code":11,"msg":")"), HasSubstr(waiting)));
  EXPECT_THAT(service.ask("POST", "/cni", request_body(env_of("CHECK"), "{}")).body,
              StartsWith(R"({"code":11,)"));
  EXPECT_THAT(service.ask("POST", "/cni", request_body(R"({"CNI_COMMAND":"STATUS"})", "{}")).body,
              StartsWith(R"({"code":50,)"));
  EXPECT_EQ(service.ask("POST", "/cni", request_body(env_of("DEL"), "{}")).status, 200);

  dir.write("ready", "");
  EXPECT_EQ(service.ask("GET", "/readyz").status, 200);
  EXPECT_EQ(service.ask("POST", "/cni", request_body(env_of("ADD"), "{}")).status, 200);
}

TEST(Routes, SendsTheResultOfAdd) {
  TestService service;

  const auto response = service.ask("POST", "/cni", request_body(env_of("ADD"), "{}"));

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body,
            R"({"Result":{"cniVersion":"1.1.0","interfaces":[{"mac":"02:00:00:00:00:01",)"
            R"("name":"eth0","sandbox":"/ns"}]}})");
}

TEST(Routes, AnswersOtherCommandsWithAnEmptyBody) {
  TestService service;

  for (const char* command : {"DEL", "CHECK"}) {
    const auto response = service.ask("POST", "/cni", request_body(env_of(command), "{}"));
    EXPECT_EQ(response.status, 200) << command;
    EXPECT_EQ(response.body, "");
    EXPECT_EQ(response.content_type, "");
  }
  for (const char* command : {"STATUS", "GC"}) {
    const std::string env = cat(R"({"CNI_COMMAND":")", command, "\"}");
    EXPECT_EQ(service.ask("POST", "/cni", request_body(env, "{}")).status, 200) << command;
  }
  EXPECT_THAT(service.order(), ElementsAre("DEL c1", "end of DEL c1", "CHECK c1", "end of CHECK c1",
                                           "STATUS ", "end of STATUS ", "GC ", "end of GC "));
}

TEST(Routes, HandsTheRequestToTheCore) {
  ServiceOptions options;
  options.config =
      R"({"binDir":"/daemon","logLevel":"debug","readinessindicatorfile":"","clusterNetwork":"a"})";
  TestService service(options);
  const std::string args =
      " K8S_POD_NAMESPACE = ns ;;K8S_POD_NAME=p;K8S_POD_UID=u;K8S_POD_INFRA_CONTAINER_ID=i;A=b=c;"
      "IgnoreUnknown=1";

  service.ask("POST", "/cni",
              request_body(env_of("ADD", "c1", args),
                           R"({"binDir":"/request","name":"n","readinessIndicatorFile":"/x"})"),
              {{"X-Request-Id", "0123456789abcdef"}});

  const auto calls = service.calls();
  ASSERT_EQ(calls.size(), 1u);
  const attach::Request& request = calls[0].request;
  EXPECT_EQ(request.container_id, "c1");
  EXPECT_EQ(request.netns, "/ns");
  EXPECT_EQ(request.ifname, "eth0");
  EXPECT_EQ(request.path, "/opt");
  EXPECT_EQ(cni::args_text(request.args),
            "IgnoreUnknown=true;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=p;K8S_POD_INFRA_CONTAINER_ID=i;"
            "K8S_POD_UID=u;A=b=c");
  EXPECT_EQ(request.pod.ns, "ns");
  EXPECT_EQ(request.pod.name, "p");
  EXPECT_EQ(request.pod.uid, "u");
  EXPECT_EQ(request.pod.infra_container_id, "i");
  EXPECT_EQ(request.conf->bin_dir, "/daemon");
  EXPECT_EQ(request.conf->name, "n");
  EXPECT_EQ(request.conf->readiness_indicator_file, "");
  EXPECT_EQ(request.id, "0123456789abcdef");
  EXPECT_NE(request.caller, nullptr);
  EXPECT_TRUE(service.lines->has(
      "[debug] ADD container \"c1\" interface \"eth0\" request=0123456789abcdef\n"));
}

TEST(Routes, NamesRequestsThatBringNoName) {
  TestService service;

  service.ask("POST", "/cni", request_body(env_of("DEL"), "{}"));
  service.ask("POST", "/cni", request_body(env_of("DEL"), "{}"), {{"X-Request-Id", "mine; x"}});

  const auto calls = service.calls();
  ASSERT_EQ(calls.size(), 2u);
  for (const auto& call : calls) EXPECT_TRUE(wire::is_request_id(call.request.id));
  EXPECT_NE(calls[0].request.id, calls[1].request.id);
  EXPECT_LT(calls[0].request.ticket, calls[1].request.ticket);
}

TEST(Routes, RefusesWhatIsNoRequest) {
  TestService service;
  const auto error_of = [&](const std::string& body) {
    const auto response = service.ask("POST", "/cni", body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_EQ(response.content_type, "text/plain; charset=utf-8") << body;
    EXPECT_EQ(*http::find_header(response.headers, "X-Content-Type-Options"), "nosniff");
    return response.body;
  };

  for (const std::string& body :
       {std::string(), std::string("{"), std::string("[]"), std::string("\"x\""),
        std::string("{}{}"), std::string(5000, '[')}) {
    EXPECT_THAT(error_of(body), EndsWith("\n")) << body;
  }
  EXPECT_EQ(error_of("null"),
            "could not extract the CNI command args: unexpected or missing CNI_COMMAND\n");
  EXPECT_EQ(error_of(request_body(R"({"CNI_COMMAND":"ADD"})", "{}")),
            "could not extract the CNI command args: missing CNI_CONTAINERID\n");
  EXPECT_THAT(
      error_of(request_body(env_of("ADD"), "")),
      StartsWith("could not extract the CNI command args: failed to unmarshall CNI config: "));
  EXPECT_THAT(error_of(request_body(env_of("ADD"), "null")),
              HasSubstr("failed to unmarshall CNI config: "));
  EXPECT_EQ(error_of(request_body(env_of("ADD", "c1", "K8S_POD_NAME=p"), "{}")),
            "could not extract the kubernetes runtime args: missing K8S_POD_NAMESPACE\n");
  EXPECT_EQ(error_of(request_body(env_of("ADD", "c1", "junk"), "{}")),
            "could not extract the kubernetes runtime args: invalid CNI_ARG 'junk'\n");
  EXPECT_EQ(error_of(request_body(env_of("add"), "{}")),
            "ContainerID:\"c1\" Netns:\"/ns\" IfName:\"eth0\" "
            "Args:\"K8S_POD_NAMESPACE=ns;K8S_POD_NAME=p\" Path:\"/opt\" ERRORED: "
            "unknown cmd type: add\n");
  EXPECT_THAT(service.order(), IsEmpty());
}

TEST(Routes, NeedsNoPodWithAFolderOfObjects) {
  ServiceOptions options;
  options.config = R"({"objectsDir":"/o","clusterNetwork":"a"})";
  TestService service(options);

  for (const char* args : {"", "K8S_POD_NAME=x", "IgnoreUnknown=1"}) {
    EXPECT_EQ(service.ask("POST", "/cni", request_body(env_of("ADD", "c1", args), "{}")).status,
              200);
  }
  EXPECT_EQ(service.calls()[1].request.pod.name, "x");
}

TEST(Routes, LetsADelPassWithJunkInItsArguments) {
  TestService service;

  const auto response = service.ask(
      "POST", "/cni",
      request_body(env_of("DEL", "c1", "junk;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=p"), "{}"));

  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(cni::args_text(service.calls()[0].request.args),
            "IgnoreUnknown=true;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=p;K8S_POD_INFRA_CONTAINER_ID=;"
            "K8S_POD_UID=");
  EXPECT_TRUE(service.lines->has("warning: DEL continues without the invalid CNI_ARG 'junk'"));
}

TEST(Routes, KeepsTheCodeOfAnErrorAndPutsTheRequestBeforeIt) {
  TestService service;
  service.with([](Service& inside) {
    inside.core.fail("ADD", cni::coded(cni::Code::kTryAgainLater, "no free VF", "pf0"));
    inside.core.fail("CHECK", Error(Errc::kPlugin, "text only"));
  });

  const auto add = service.ask("POST", "/cni", request_body(env_of("ADD"), "{}"));
  const auto check = service.ask("POST", "/cni", request_body(env_of("CHECK"), "{}"));

  EXPECT_EQ(add.status, 400);
  EXPECT_EQ(add.content_type, "application/json");
  EXPECT_THAT(add.body, StartsWith(R"({"code":11,"msg":"ContainerID:\"c1\" Netns:\"/ns\" )"));
  EXPECT_THAT(add.body, HasSubstr("ERRORED: error configuring pod [ns/p] networking: no free VF"));
  EXPECT_THAT(add.body, EndsWith(R"("details":"pf0"})"));
  EXPECT_EQ(check.status, 400);
  EXPECT_THAT(check.body, EndsWith(" ERRORED: text only\n"));
}

TEST(Routes, WritesTheLinesThatPeopleSearchFor) {
  TestService service;
  const std::string line =
      "ContainerID:\"c1\" Netns:\"/ns\" IfName:\"eth0\" "
      "Args:\"K8S_POD_NAMESPACE=ns;K8S_POD_NAME=p\" Path:\"/opt\"";

  service.ask("POST", "/cni", request_body(env_of("DEL"), "{}"));
  service.ask("POST", "/delegate", request_body(env_of("GC"), "{}"));
  service.ask("POST", "/delegate", request_body(env_of("CHECK"), "{}"));

  EXPECT_TRUE(service.lines->has(cat("[verbose] DEL starting CNI request ", line, "\n")));
  EXPECT_TRUE(service.lines->has(
      cat("[verbose] DEL finished CNI request ", line, ", result: \"\", err: <nil>\n")));
  EXPECT_TRUE(service.lines->has(cat("[verbose] CHECK starting delegate request ", line, "\n")));
  EXPECT_TRUE(service.lines->has(
      cat("[verbose] CHECK finished Delegate request ", line, ", result: \"\", err: <nil>\n")));
  EXPECT_TRUE(service.lines->has(", result: \"\", err: unknown cmd type: GC\n"));
}

TEST(Routes, CountsErrorsByTheCodeThatTheRuntimeSees) {
  TestService service;
  service.with([](Service& inside) {
    inside.core.fail("ADD", cni::coded(cni::Code::kTryAgainLater, "not yet"));
    inside.core.fail("DEL", Error(Errc::kIo, "disk full"));
  });

  service.ask("POST", "/cni", request_body(env_of("ADD"), "{}"));
  service.ask("POST", "/cni", request_body(env_of("DEL"), "{}"));

  EXPECT_THAT(metrics_of(service),
              AllOf(HasSubstr("multus_request_errors_total{code=\"11\",command=\"ADD\"} 1\n"),
                    HasSubstr("multus_request_errors_total{code=\"999\",command=\"DEL\"} 1\n"),
                    HasSubstr("multus_incomplete_dels_total 1\n")));
}

TEST(Routes, CountsRequestsByRouteAndTimesThemByCommand) {
  TestService service;

  service.ask("POST", "/cni", request_body(env_of("ADD"), "{}"));
  service.ask("POST", "/cni", "{");
  service.ask("GET", "/healthz");

  EXPECT_THAT(metrics_of(service),
              AllOf(HasSubstr("{code=\"200\",handler=\"/cni\",method=\"post\"} 1\n"),
                    HasSubstr("{code=\"400\",handler=\"/cni\",method=\"post\"} 1\n"),
                    HasSubstr("{code=\"200\",handler=\"/healthz\",method=\"get\"} 1\n"),
                    HasSubstr("multus_request_duration_seconds_count{command=\"ADD\"} 1\n")));
}

TEST(Routes, DoesNotCountWhatFailedOnItsWayIn) {
  TestService service;
  http::RawClient client(service.socket());
  client.send("POST /cni HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nnull");
  client.end_sending();

  EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(metrics_of(service), Not(HasSubstr("handler=\"/cni\"")));
}

TEST(Delegate, LaysNothingOverTheDelegatesConfiguration) {
  ServiceOptions options;
  options.config = R"({"logLevel":"debug","cniVersion":"0.4.0","binDir":"/b"})";
  TestService service(options);

  service.ask("POST", "/delegate",
              request_body(env_of("ADD"), R"({"name":"n","cniVersion":"1.0.0"})"));
  service.ask("POST", "/delegate", request_body(env_of("ADD"), R"({"name":"n"})"));

  const auto calls = service.calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].command, "hotplug ADD");
  EXPECT_EQ(calls[0].hotplug.config, R"({"name":"n","cniVersion":"1.0.0"})");
  EXPECT_EQ(calls[0].request.conf->cni_version, "0.4.0");
  EXPECT_EQ(calls[0].request.conf->bin_dir, "/b");
  EXPECT_EQ(calls[1].hotplug.config, R"({"name":"n","cniVersion":"0.4.0"})");
}

// The container's own requests name another `cniDir` than the daemon's configuration.
TEST(Delegate, FindsTheRecordsOfTheContainerWhereTheyAre) {
  const sys::TestDir dir;
  ServiceOptions options;
  options.config = cat(R"({"cniDir":")", dir / "own", "\"}");
  TestService service(options);
  const std::string other = dir / "other";
  service.with([&](Service& inside) { inside.pending.look_in(other); });

  service.ask("POST", "/delegate", request_body(env_of("ADD"), R"({"name":"n"})"));
  dir.write("other/c1", "[]");
  service.ask("POST", "/delegate", request_body(env_of("ADD"), R"({"name":"n"})"));
  dir.write("own/_attachments/c1.json", "{}");
  service.ask("POST", "/delegate", request_body(env_of("ADD"), R"({"name":"n"})"));

  const auto calls = service.calls();
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].request.conf->cni_dir, dir / "own");
  EXPECT_EQ(calls[1].request.conf->cni_dir, other);
  EXPECT_EQ(calls[2].request.conf->cni_dir, dir / "own");
}

TEST(Delegate, HandsOnWhatTheClientWishes) {
  TestService service;
  const std::string body = request_body(env_of("ADD"), "{}");

  service.ask(
      "POST", "/delegate",
      cat(body.substr(0, body.size() - 1),
          R"(,"interfaceAttributes":{"ips":["10.0.0.5/24"],"MacRequest":"02::2","mac":"02::1"}})"));

  const auto calls = service.calls();
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_THAT(calls[0].hotplug.ips, ElementsAre("10.0.0.5/24"));
  EXPECT_EQ(calls[0].hotplug.mac, "02::1");
  EXPECT_FALSE(calls[0].hotplug.cni_args.has_value());
}

TEST(Delegate, ReturnsErrorsOfDelAndKnowsNoGc) {
  TestService service;
  service.with(
      [](Service& inside) { inside.core.fail("hotplug DEL", Error(Errc::kPlugin, "will not")); });

  const auto del = service.ask("POST", "/delegate", request_body(env_of("DEL"), "{}"));
  const auto gc = service.ask("POST", "/delegate", request_body(R"({"CNI_COMMAND":"GC"})", "{}"));
  const auto status =
      service.ask("POST", "/delegate", request_body(R"({"CNI_COMMAND":"STATUS"})", "{}"));

  EXPECT_EQ(del.status, 400);
  EXPECT_THAT(del.body, EndsWith("ERRORED: will not\n"));
  EXPECT_THAT(gc.body, EndsWith("unknown cmd type: GC\n"));
  EXPECT_EQ(status.status, 200);
}

TEST(Routes, ExecutesNoMoreAtOnceThanTheConnectionLimitAndProbesDoNotWait) {
  TestService service(slots(1));
  service.with([](Service& inside) { inside.core.close("ADD"); });
  std::vector<http::RawClient> clients;
  const auto send = [&](const std::string& container) {
    const std::string body = request_body(env_of("ADD", container), "{}");
    clients.emplace_back(service.socket());
    clients.back().send(posted(body));
  };
  for (const char* container : {"c1", "c2", "c3"}) {
    send(container);
    const std::size_t seen = clients.size();
    while (service.with([](Service& inside) {
      return inside.requests.running() + inside.requests.waiting();
    }) != seen) {
      std::this_thread::yield();
    }
  }

  EXPECT_THAT(service.order(), ElementsAre("ADD c1"));
  EXPECT_EQ(service.ask("GET", "/healthz").status, 200);
  EXPECT_EQ(service.ask("GET", "/readyz").status, 200);
  service.with([](Service& inside) { inside.core.open(); });

  for (auto& client : clients) EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.0 200 OK"));
  EXPECT_THAT(service.order(), ElementsAre("ADD c1", "end of ADD c1", "ADD c2", "end of ADD c2",
                                           "ADD c3", "end of ADD c3"));
  EXPECT_EQ(service.with([](Service& inside) { return inside.requests.most(); }), 1u);
}

TEST(Routes, DropsAWaitingRequestWhoseClientLeft) {
  TestService service(slots(1));
  service.with([](Service& inside) { inside.core.close("ADD"); });
  const std::string request = posted(request_body(env_of("ADD"), "{}"));
  http::RawClient first(service.socket());
  first.send(request);
  service.wait_for("ADD c1");
  {
    http::RawClient impatient(service.socket());
    impatient.send(request);
    wait_for_line(service, 1);
  }

  wait_for_line(service, 0);
  service.with([](Service& inside) { inside.core.open(); });

  EXPECT_THAT(first.read_all(), StartsWith("HTTP/1.0 200"));
  EXPECT_EQ(service.calls().size(), 1u);
}

TEST(Routes, ADelEndsAnAddOfItsContainerThatStillWaits) {
  TestService service(slots(1));
  service.with([](Service& inside) { inside.core.close("ADD"); });
  http::RawClient busy(service.socket());
  busy.send(posted(request_body(env_of("ADD", "c1"), "{}")));
  service.wait_for("ADD c1");
  http::RawClient add(service.socket());
  add.send(posted(request_body(env_of("ADD", "c2"), "{}")));
  wait_for_line(service, 1);

  http::RawClient del(service.socket());
  del.send(posted(request_body(env_of("DEL", "c2"), "{}")));

  EXPECT_THAT(add.read_all(), StartsWith("HTTP/1.0 400"));
  service.with([](Service& inside) { inside.core.open(); });
  EXPECT_THAT(busy.read_all(), StartsWith("HTTP/1.0 200"));
  EXPECT_THAT(del.read_all(), StartsWith("HTTP/1.0 200"));
  EXPECT_THAT(service.order(), ElementsAre("ADD c1", "end of ADD c1", "DEL c2", "end of DEL c2"));
}

// It unplugs one interface; the request that waits may be for another.
TEST(Routes, ADelOfOneInterfaceEndsNoRequestThatWaits) {
  TestService service(slots(1));
  service.with([](Service& inside) { inside.core.close("ADD"); });
  http::RawClient busy(service.socket());
  busy.send(posted(request_body(env_of("ADD", "c1"), "{}")));
  service.wait_for("ADD c1");
  http::RawClient check(service.socket());
  check.send(posted(request_body(env_of("CHECK", "c2"), "{}")));
  wait_for_line(service, 1);

  http::RawClient unplug(service.socket());
  unplug.send(posted(request_body(env_of("DEL", "c2"), R"({"name":"n"})"), "/delegate"));
  wait_for_line(service, 2);
  service.with([](Service& inside) { inside.core.open(); });

  EXPECT_THAT(busy.read_all(), StartsWith("HTTP/1.0 200"));
  EXPECT_THAT(check.read_all(), StartsWith("HTTP/1.0 200"));
  EXPECT_THAT(unplug.read_all(), StartsWith("HTTP/1.0 200"));
}

// Three of four are for one namespace; the fourth is left to others, whatever they ask.
TEST(Routes, SharesBetweenTheNamespacesThatRequestsName) {
  TestService service(slots(4));
  service.with([](Service& inside) { inside.core.close("ADD"); });
  std::vector<http::RawClient> clients;
  const auto send = [&](const std::string& body) {
    clients.emplace_back(service.socket());
    clients.back().send(posted(body));
  };
  for (int i = 0; i < 5; ++i) send(request_body(env_of("ADD", cat("c", i)), "{}"));
  wait_for_line(service, 2);
  EXPECT_EQ(service.calls().size(), 3u);

  EXPECT_EQ(service.ask("POST", "/cni", request_body(R"({"CNI_COMMAND":"STATUS"})", "{}")).status,
            200);
  send(request_body(env_of("ADD", "other", "K8S_POD_NAME=p; K8S_POD_NAMESPACE = others"), "{}"));
  service.wait_for("ADD other");

  service.with([](Service& inside) { inside.core.open(); });
  for (auto& client : clients) EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.0 200 OK"));
}

TEST(Routes, ADelThatNamesNoContainerEndsNoWait) {
  TestService service(slots(1));
  service.with([](Service& inside) { inside.core.close("ADD"); });
  http::RawClient busy(service.socket());
  busy.send(posted(request_body(env_of("ADD", "c1"), "{}")));
  service.wait_for("ADD c1");
  http::RawClient status(service.socket());
  status.send(posted(request_body(R"({"CNI_COMMAND":"STATUS"})", "{}")));
  wait_for_line(service, 1);

  http::RawClient del(service.socket());
  del.send(posted(request_body(R"({"CNI_COMMAND":"DEL"})", "{}")));
  wait_for_line(service, 2);

  service.with([](Service& inside) { inside.core.open(); });
  EXPECT_THAT(status.read_all(), StartsWith("HTTP/1.0 200"));
  EXPECT_THAT(del.read_all(), StartsWith("HTTP/1.0 400"));
}

TEST(Routes, TellsTheCoreThatTheClientHasLeft) {
  TestService service;
  service.with([](Service& inside) { inside.core.close("ADD"); });
  http::RawClient client(service.socket());
  client.send(posted(request_body(env_of("ADD"), "{}")));
  service.wait_for("ADD c1");
  const auto is_gone = [&] {
    return service.with(
        [](Service& inside) { return inside.core.calls[0].request.caller->gone(); });
  };
  EXPECT_FALSE(is_gone());

  client.close();

  while (!is_gone()) std::this_thread::yield();
}

TEST(Routes, ReadsALargeBodyOnlyWhenItIsItsTurn) {
  TestService service(slots(1));
  service.with([](Service& inside) { inside.core.close("DEL"); });
  auto first = std::async(std::launch::async, [&] {
    return service.ask("POST", "/cni", request_body(env_of("DEL"), "{}")).status;
  });
  service.wait_for("DEL c1");
  const std::string large =
      request_body(env_of("CHECK", "c2"), cat(R"({"x":")", std::string(100u << 10, 'x'), "\"}"));
  http::RawClient client(service.socket());
  client.send(cat("POST /cni HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ",
                  large.size(), "\r\n\r\n"));
  wait_for_line(service, 1);
  char byte = 0;
  EXPECT_EQ(::recv(client.fd(), &byte, 1, MSG_DONTWAIT), -1);  // the daemon does not ask for it yet

  service.with([](Service& inside) { inside.core.open(); });
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send(large);

  EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_EQ(first.get(), 200);
}

TEST(Routes, ServesLargeBodiesOfDelegateOneAtATime) {
  TestService service;
  service.with([](Service& inside) { inside.core.close("hotplug CHECK"); });
  const auto body = [](std::string_view container) {
    return request_body(env_of("CHECK", container),
                        cat(R"({"x":")", std::string(20u << 10, 'x'), "\"}"));
  };
  auto first = std::async(std::launch::async,
                          [&] { return service.ask("POST", "/delegate", body("c1")).status; });
  service.wait_for("hotplug CHECK c1");
  const std::string second = body("c2");
  http::RawClient client(service.socket());
  client.send(cat("POST /delegate HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: ",
                  second.size(), "\r\n\r\n"));
  // A small one does not wait.
  auto small = std::async(std::launch::async, [&] {
    return service.ask("POST", "/delegate", request_body(env_of("CHECK", "c3"), "{}")).status;
  });
  service.wait_for("hotplug CHECK c3");
  char byte = 0;
  EXPECT_EQ(::recv(client.fd(), &byte, 1, MSG_DONTWAIT), -1);  // the daemon does not ask for it yet

  service.with([](Service& inside) { inside.core.open(); });
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send(second);

  EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.1 200 OK"));
  EXPECT_EQ(first.get(), 200);
  EXPECT_EQ(small.get(), 200);
}

}  // namespace
}  // namespace mnet::daemon
