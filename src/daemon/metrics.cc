#include "daemon/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "daemon/process_metrics.h"

namespace mnet::daemon {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Histogram;

// As the original's exporter names them; whoever makes up a method must not make up a series.
std::string method_label(std::string_view method) {
  constexpr std::array<std::string_view, 10> kKnown = {
      "get", "put", "head", "post", "delete", "connect", "options", "notify", "trace", "patch"};
  std::string lower = to_lower(method);
  return std::ranges::find(kKnown, lower) != kKnown.end() ? lower : "unknown";
}

std::string command_label(std::string_view command) {
  constexpr std::array<std::string_view, 5> kKnown = {"ADD", "DEL", "CHECK", "STATUS", "GC"};
  return std::ranges::find(kKnown, command) != kKnown.end() ? std::string(command) : "other";
}

Histogram::BucketBoundaries request_buckets() {
  return {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 240};
}

Histogram::BucketBoundaries own_share_buckets() {
  return {0.0001, 0.0002, 0.0003, 0.0004, 0.0005, 0.00075, 0.001, 0.0015, 0.002,
          0.003,  0.005,  0.01,   0.025,  0.05,   0.1,     0.5,   2.5,    10};
}

}  // namespace

struct Metrics::Impl {
  prometheus::Registry registry;
  Family<Counter>& requests = prometheus::BuildCounter()
                                  .Name("multus_server_request_total")
                                  .Help("Counter of HTTP requests")
                                  .Register(registry);
  Family<Histogram>& durations =
      prometheus::BuildHistogram()
          .Name("multus_request_duration_seconds")
          .Help("Time from the arrival of a request to its answer, by CNI command")
          .Register(registry);
  Family<Histogram>& own_shares =
      prometheus::BuildHistogram()
          .Name("multus_request_own_duration_seconds")
          .Help(
              "Time from the admission of a request to its answer in which none of its delegates "
              "ran or waited, by CNI command")
          .Register(registry);
  Family<Counter>& undone = prometheus::BuildCounter()
                                .Name("multus_undone_on_disconnect_total")
                                .Help("ADDs undone because their client had left")
                                .Register(registry);
  Family<Counter>& replays = prometheus::BuildCounter()
                                 .Name("multus_pending_del_replays_total")
                                 .Help("Replays of DELs that had reached no daemon")
                                 .Register(registry);
  Family<Counter>& bad_records =
      prometheus::BuildCounter()
          .Name("multus_pending_del_bad_records_total")
          .Help("Records of pending DELs that could not be used and were set aside")
          .Register(registry);
  std::vector<std::pair<prometheus::Gauge*, std::function<double()>>> gauges;
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {
  // There from the start, so that a rate can be taken of the first event.
  impl_->undone.Add({});
  impl_->bad_records.Add({});
  impl_->replays.Add({{"outcome", "success"}});
  impl_->replays.Add({{"outcome", "failure"}});
}

Metrics::~Metrics() = default;

void Metrics::count_request(std::string_view handler, int status, std::string_view method) {
  impl_->requests
      .Add({{"handler", std::string(handler)},
            {"code", cat(status)},
            {"method", method_label(method)}})
      .Increment();
}

void Metrics::observe_request(std::string_view command, std::chrono::duration<double> time) {
  impl_->durations.Add({{"command", command_label(command)}}, request_buckets())
      .Observe(time.count());
}

void Metrics::observe_own_share(std::string_view command, std::chrono::duration<double> time) {
  impl_->own_shares.Add({{"command", command_label(command)}}, own_share_buckets())
      .Observe(time.count());
}

void Metrics::count_undone_on_disconnect() { impl_->undone.Add({}).Increment(); }

void Metrics::count_replay(bool succeeded) {
  impl_->replays.Add({{"outcome", succeeded ? "success" : "failure"}}).Increment();
}

void Metrics::count_bad_record() { impl_->bad_records.Add({}).Increment(); }

void Metrics::add_gauge(const std::string& name, const std::string& help,
                        std::function<double()> read) {
  auto& gauge = prometheus::BuildGauge().Name(name).Help(help).Register(impl_->registry).Add({});
  impl_->gauges.emplace_back(&gauge, std::move(read));
}

std::string Metrics::text() const {
  for (const auto& [gauge, read] : impl_->gauges) gauge->Set(read());
  // A family without a series yet would be a help text for nothing.
  std::vector<prometheus::MetricFamily> families = impl_->registry.Collect();
  std::erase_if(families, [](const auto& family) { return family.metric.empty(); });
  return prometheus::TextSerializer().Serialize(families) + process_metrics();
}

}  // namespace mnet::daemon
