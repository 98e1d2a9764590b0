#include "metrics/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/text.h"
#include "http/http.h"
#include "http/server_fixture.h"
#include "metrics/process.h"
#include "metrics/record_counts.h"
#include "metrics/server.h"
#include "sys/test_dir.h"

namespace mnet::metrics {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
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

TEST(Metrics, TellsWaitAndOwnShareApart) {
  Metrics metrics;
  metrics.observe_wait("ADD", 30ms);
  metrics.observe_own_share("ADD", 1ms);

  const std::string text = metrics.text();

  EXPECT_THAT(text, HasSubstr("multus_request_queue_wait_seconds_sum{command=\"ADD\"} 0.03\n"));
  EXPECT_THAT(text, HasSubstr("multus_request_own_duration_seconds_sum{command=\"ADD\"} 0.001\n"));
}

TEST(Metrics, MakesHistogramsCumulativeUpToInfinity) {
  Metrics metrics;
  for (const auto took : {3ms, 30ms, 300000ms}) {
    metrics.observe_delegate({.type = "bridge", .command = "ADD", .took = took});
  }

  const std::string text = metrics.text();

  const std::string bucket =
      "multus_delegate_duration_seconds_bucket{command=\"ADD\",type=\"bridge\",le=";
  EXPECT_THAT(text, HasSubstr(cat(bucket, "\"0.005\"} 1\n")));
  EXPECT_THAT(text, HasSubstr(cat(bucket, "\"0.05\"} 2\n")));
  EXPECT_THAT(text, HasSubstr(cat(bucket, "\"180\"} 2\n")));
  EXPECT_THAT(text, HasSubstr(cat(bucket, "\"+Inf\"} 3\n")));
  EXPECT_THAT(
      text,
      HasSubstr("multus_delegate_duration_seconds_count{command=\"ADD\",type=\"bridge\"} 3\n"));
}

TEST(Metrics, TimesHotplugByItsOperation) {
  Metrics metrics;
  metrics.observe_hotplug("add", 30ms);
  metrics.observe_hotplug("remove", 3ms);

  const std::string text = metrics.text();

  EXPECT_THAT(text,
              HasSubstr("multus_hotplug_duration_seconds_bucket{op=\"add\",le=\"0.025\"} 0\n"));
  EXPECT_THAT(text,
              HasSubstr("multus_hotplug_duration_seconds_bucket{op=\"add\",le=\"0.05\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("multus_hotplug_duration_seconds_count{op=\"remove\"} 1\n"));
}

TEST(Metrics, SaysWhyADelegateFailed) {
  Metrics metrics;
  using End = DelegateRun::End;
  for (const End end : {End::kSuccess, End::kTimeout, End::kError, End::kError}) {
    metrics.observe_delegate({.type = "sriov", .command = "DEL", .end = end});
  }

  const std::string text = metrics.text();

  const std::string failures = "multus_delegate_failures_total{command=\"DEL\",reason=";
  EXPECT_THAT(text, HasSubstr(cat(failures, "\"timeout\",type=\"sriov\"} 1\n")));
  EXPECT_THAT(text, HasSubstr(cat(failures, "\"error\",type=\"sriov\"} 2\n")));
}

TEST(Metrics, MakesNoSeriesOfTypesThatPeopleInvent) {
  Metrics metrics;
  for (int i = 0; i < 100; ++i) {
    metrics.observe_delegate({.type = cat("type", i), .command = "ADD"});
    metrics.count_missing_plugin(cat("missing", i));
  }
  metrics.count_missing_plugin("new\nline");

  const std::string text = metrics.text();

  EXPECT_THAT(text, HasSubstr("multus_delegate_duration_seconds_count{command=\"ADD\",type="
                              "\"other\"} 68\n"));
  EXPECT_THAT(text, HasSubstr("multus_delegate_binary_missing_total{type=\"missing31\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("multus_delegate_binary_missing_total{type=\"other\"} 69\n"));
  EXPECT_THAT(text, Not(HasSubstr("missing32")));
}

TEST(Metrics, TellOfAPluginAsMissingUntilItRunsOrNobodyAsksForItAnyMore) {
  Metrics metrics;
  for (const char* type : {"bridge", "brigde"}) metrics.count_missing_plugin(type);
  EXPECT_THAT(metrics.missing_plugins(), ElementsAre("bridge", "brigde"));

  metrics.observe_delegate({.type = "bridge", .command = "ADD"});

  EXPECT_THAT(metrics.missing_plugins(), ElementsAre("brigde"));
  const auto later = std::chrono::steady_clock::now() + Metrics::kMissingFor;
  EXPECT_THAT(metrics.missing_plugins(later), IsEmpty());
}

TEST(Metrics, CountsErrorsByTheCodesOfTheSpecification) {
  Metrics metrics;
  metrics.count_error("ADD", 11);
  metrics.count_error("ADD", 4711);
  metrics.count_error("ADD", 4712);

  const std::string text = metrics.text();

  EXPECT_THAT(text, HasSubstr("multus_request_errors_total{code=\"11\",command=\"ADD\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("multus_request_errors_total{code=\"other\",command=\"ADD\"} 2\n"));
}

TEST(Metrics, ShowsTheEndOfACertificateOnceThereIsOne) {
  Metrics metrics;
  const std::string name = "\nmultus_client_certificate_expiration_timestamp_seconds ";
  EXPECT_THAT(metrics.text(), Not(HasSubstr(name)));

  metrics.set_certificate_expiry(std::chrono::system_clock::from_time_t(1'800'000'000));

  EXPECT_THAT(metrics.text(), HasSubstr(cat(name, "1800000000\n")));
}

TEST(Metrics, HasWhatAlertsLookAtBeforeAnythingHappened) {
  const std::string text = Metrics().text();

  for (const char* line : {"multus_requests_dropped_total 0", "multus_undone_on_disconnect_total 0",
                           "multus_incomplete_dels_total 0", "multus_failed_checks_total 0",
                           "multus_pending_del_bad_records_total 0", "multus_config_fights_total 0",
                           "multus_config_writes_total{outcome=\"failure\"} 0"}) {
    EXPECT_THAT(text, HasSubstr(cat("\n", line, "\n")));
  }
  EXPECT_THAT(text,
              ContainsRegex("\nmultus_build_info\\{commit=\"[^\"]+\",version=\"[^\"]+\"\\} 1\n"));
}

TEST(Metrics, ReadsTheSeriesOfOthersWithTheirLabelsEscaped) {
  Metrics metrics;
  metrics.add_series(SeriesKind::kCounter, "multus_api_requests_total", "Requests", [] {
    return std::vector<Sample>{{.labels = {{"verb", "get"}, {"code", "200"}}, .value = 7},
                               {.labels = {{"verb", "a\"b\\c\nd"}}, .value = 1}};
  });

  const std::string text = metrics.text();

  EXPECT_THAT(text, HasSubstr("# TYPE multus_api_requests_total counter\n"
                              "multus_api_requests_total{code=\"200\",verb=\"get\"} 7\n"
                              "multus_api_requests_total{verb=\"a\\\"b\\\\c\\nd\"} 1\n"));
}

TEST(Metrics, WritesNumbersSoThatTheyAreReadBackAsTheyWere) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<double, std::string>> numbers = {{0, "0"},
                                                               {1'000'000, "1000000"},
                                                               {-3, "-3"},
                                                               {0.1, "0.1"},
                                                               {1.0 / 3, "0.3333333333333333"},
                                                               {1e-7, "1e-07"},
                                                               {1e300, "1e+300"},
                                                               {1'800'000'000.25, "1800000000.25"},
                                                               {kInfinite, "+Inf"},
                                                               {-kInfinite, "-Inf"},
                                                               {std::nan(""), "NaN"}};

  for (const auto& [value, written] : numbers) {
    Metrics metrics;
    metrics.add_gauge("multus_number", "A number", [&value] { return value; });
    EXPECT_THAT(metrics.text(), HasSubstr(cat("\nmultus_number ", written, "\n")));
  }
}

TEST(Metrics, PutsAValueIntoTheBucketWhoseLimitItIs) {
  Metrics metrics;
  metrics.observe_request("ADD", 5ms);

  const std::string bucket = "multus_request_duration_seconds_bucket{command=\"ADD\",le=";
  EXPECT_THAT(metrics.text(), HasSubstr(cat(bucket, "\"0.005\"} 1\n", bucket, "\"0.01\"} 1\n")));
}

TEST(RecordCounts, AddsUpAllDirectories) {
  const sys::TestDir one, two;
  one.write("results/net-c1-eth0", "{}");
  two.write("results/net-c2-eth0", "{}");
  aio::asio::io_context loop(1);
  aio::BlockingPool pool(1);
  RecordCounts records(pool, [&] { return std::set<std::string>{one.path(), two.path()}; });

  ASSERT_TRUE(aio::run(loop, records.refresh()).has_value());

  EXPECT_EQ(records.numbers().results, 2u);
}

TEST(ProcessMetrics, TellsAllThatDashboardsUse) {
  const std::string text = process_text();

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

  const std::string text = process_text(proc.path());

  EXPECT_THAT(text, HasSubstr("\nprocess_cpu_seconds_total 4.00\n"));
  EXPECT_THAT(text, HasSubstr("\nprocess_start_time_seconds 1005.00\n"));
  EXPECT_THAT(text, HasSubstr("\nprocess_virtual_memory_bytes 4096000\n"));
  EXPECT_THAT(text, HasSubstr("\nprocess_resident_memory_bytes 409600\n"));
}

aio::Task<void> raise_and_fail(double* value) {
  *value += 1;
  co_return Error(Errc::kIo, "only half of them");
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

  void start(ServerSettings settings) {
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
    return loop_.run(http::request_tcp(port(), request, std::chrono::steady_clock::now() + 20s))
        .value();
  }

  Metrics metrics_;
  http::LoopThread loop_;
  std::optional<Server> server_;
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

TEST_F(MetricsServerTest, FreshensItsNumbersBeforeItShowsThem) {
  double value = 1;
  metrics_.add_gauge("multus_records", "Files", [&value] { return value; });
  start(
      {.address = "127.0.0.1", .port = 0, .refresh = [&value] { return raise_and_fail(&value); }});

  EXPECT_THAT(get("/metrics").body, HasSubstr("\nmultus_records 2\n"));
}

// Anyone may ask, as often as he likes.
TEST_F(MetricsServerTest, ShowsAPageAgainAfterSoManyInAShortTime) {
  double value = 1;
  metrics_.add_gauge("multus_records", "Files", [&value] { return value; });
  start({.address = "127.0.0.1",
         .port = 0,
         .refresh = [&value] { return raise_and_fail(&value); },
         .window = std::chrono::hours(1),
         .most_in_window = 2});

  EXPECT_THAT(get("/metrics").body, HasSubstr("\nmultus_records 2\n"));
  EXPECT_THAT(get("/metrics").body, HasSubstr("\nmultus_records 3\n"));
  EXPECT_THAT(get("/metrics").body, HasSubstr("\nmultus_records 3\n"));
}

TEST_F(MetricsServerTest, HasTheProfilersPathsButNotItsProfiles) {
  start({.address = "127.0.0.1", .port = 0, .has_pprof = true});

  for (const char* path : {"/debug/pprof/", "/debug/pprof/profile", "/debug/pprof/trace"}) {
    EXPECT_EQ(get(path).status, 501) << path;
  }
  EXPECT_EQ(get("/debug/pprof/cmdline").status, 200);
  EXPECT_THAT(get("/debug/pprof/cmdline").body, HasSubstr("metrics_test"));
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
}  // namespace mnet::metrics
