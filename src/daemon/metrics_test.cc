#include "daemon/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "aio/group.h"
#include "base/text.h"
#include "daemon/metrics_server.h"
#include "daemon/process_metrics.h"
#include "http/http.h"
#include "http/server_fixture.h"
#include "sys/test_dir.h"

namespace mnet::daemon {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(Metrics, CountsRequestsByCodeHandlerAndMethod) {
  Metrics metrics;

  for (int i = 0; i < 3; ++i) metrics.count_request("/cni", 200, "POST");
  metrics.count_request("NotFound", 404, "GET");
  metrics.count_request("/cni", 405, "FOO");

  const std::string text = metrics.text();
  EXPECT_THAT(text, HasSubstr("# HELP multus_server_request_total Counter of HTTP requests\n"
                              "# TYPE multus_server_request_total counter\n"));
  EXPECT_THAT(
      text,
      AllOf(
          HasSubstr(
              "multus_server_request_total{code=\"200\",handler=\"/cni\",method=\"post\"} 3\n"),
          HasSubstr(
              "multus_server_request_total{code=\"404\",handler=\"NotFound\",method=\"get\"} 1\n"),
          HasSubstr("multus_server_request_total{code=\"405\",handler=\"/cni\",method=\"unknown\"} "
                    "1\n")));
}

TEST(Metrics, ShowsNoCombinationBeforeItsFirstRequest) {
  EXPECT_THAT(Metrics().text(), Not(HasSubstr("multus_server_request_total")));
}

TEST(Metrics, ReadsGaugesWhenAsked) {
  Metrics metrics;
  double value = 1;
  metrics.add_gauge("multus_requests_queued", "Requests that wait", [&value] { return value; });

  value = 7;

  EXPECT_THAT(metrics.text(), HasSubstr("\nmultus_requests_queued 7\n"));
}

TEST(Metrics, MakesNoSeriesOfCommandsThatPeopleInvent) {
  Metrics metrics;

  metrics.observe_request("ADD", 30ms);
  metrics.observe_request("x1", 30ms);
  metrics.observe_request("x2", 30ms);

  EXPECT_THAT(metrics.text(),
              HasSubstr("multus_request_duration_seconds_count{command=\"ADD\"} 1\n"));
  EXPECT_THAT(metrics.text(),
              HasSubstr("multus_request_duration_seconds_count{command=\"other\"} 2\n"));
}

TEST(ProcessMetrics, TellsAllThatDashboardsUse) {
  const std::string text = process_metrics();

  for (const char* name :
       {"process_cpu_seconds_total", "process_open_fds", "process_max_fds",
        "process_virtual_memory_bytes", "process_virtual_memory_max_bytes",
        "process_resident_memory_bytes", "process_start_time_seconds",
        "process_network_receive_bytes_total", "process_network_transmit_bytes_total"}) {
    EXPECT_THAT(text, ContainsRegex(cat("\n", name, " [0-9]"))) << name;
  }
}

TEST(ProcessMetrics, ReadsTheFieldsBehindTheProgramsName) {
  const sys::TestDir proc;
  proc.write("stat", "cpu 1\nbtime 1000\n");
  proc.write("self/stat",
             "7 (a ) b) S 1 1 1 0 -1 0 0 0 0 0 150 250 0 0 20 0 1 0 500 4096000 100 "
             "18446744073709551615 1 1\n");

  const std::string text = process_metrics(proc.path());

  EXPECT_THAT(text, HasSubstr("\nprocess_cpu_seconds_total 4.00\n"));
  EXPECT_THAT(text, HasSubstr("\nprocess_start_time_seconds 1005.00\n"));
  EXPECT_THAT(text, HasSubstr("\nprocess_virtual_memory_bytes 4096000\n"));
  EXPECT_THAT(text, HasSubstr("\nprocess_resident_memory_bytes 409600\n"));
}

// The server on a loop of its own.
class MetricsServerTest : public testing::Test {
 protected:
  ~MetricsServerTest() override {
    loop_.on_loop([this] {
      group_.reset();
      server_.reset();
    });
  }

  void start(MetricsServerSettings settings) {
    loop_.on_loop([this, &settings] {
      server_.emplace(loop_.executor(), metrics_, settings, Log());
      group_.emplace(loop_.executor(), Log());
      group_->spawn("listen", server_->listen());
    });
  }
  std::uint16_t port() {
    return loop_.on_loop([this] { return server_->port(); });
  }
  http::Response get(std::string target, std::string method = "GET") {
    http::ClientRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    return loop_
        .run(
            http::request_tcp("127.0.0.1", port(), request, std::chrono::steady_clock::now() + 20s))
        .value();
  }

  Metrics metrics_;
  http::LoopThread loop_;
  std::optional<MetricsServer> server_;
  std::optional<aio::Group> group_;
};

TEST_F(MetricsServerTest, ServesTheTextFormat) {
  start({.address = "127.0.0.1", .port = 0});

  const auto metrics = get("/metrics");

  EXPECT_EQ(metrics.status, 200);
  EXPECT_EQ(metrics.content_type, "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_THAT(metrics.body, HasSubstr("process_open_fds"));
  EXPECT_EQ(get("/").status, 404);
  EXPECT_EQ(get("/metrics", "POST").status, 405);
  EXPECT_EQ(get("/debug/pprof/").status, 404);
}

TEST_F(MetricsServerTest, HasTheProfilersPathsButNotItsProfiles) {
  start({.address = "127.0.0.1", .port = 0, .has_pprof = true});

  for (const char* path : {"/debug/pprof/", "/debug/pprof/profile", "/debug/pprof/trace"}) {
    EXPECT_EQ(get(path).status, 501) << path;
  }
  EXPECT_EQ(get("/debug/pprof/cmdline").status, 200);
  EXPECT_THAT(get("/debug/pprof/cmdline").body, HasSubstr("daemon_test"));
}

TEST_F(MetricsServerTest, WaitsForAPortThatIsTaken) {
  auto taken = http::listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(taken.has_value());
  const std::uint16_t number = *http::local_port(*taken);
  start({.address = "127.0.0.1", .port = number, .retry = 5ms});
  EXPECT_EQ(port(), 0);

  taken->reset();

  while (port() == 0) std::this_thread::yield();
  EXPECT_EQ(get("/metrics").status, 200);
}

TEST_F(MetricsServerTest, GivesUpOnAPortThatIsNone) {
  start({.address = "127.0.0.1", .port = 70000});

  EXPECT_EQ(port(), 0);
}

}  // namespace
}  // namespace mnet::daemon
