#include "metrics/metrics.h"

#include <prometheus/client_metric.h>
#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/version.h"
#include "metrics/by_command.h"
#include "metrics/label.h"
#include "metrics/process.h"

namespace mnet::metrics {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using Buckets = Histogram::BucketBoundaries;

// More kinds of plugins than a node has; far fewer than a user can write into definitions.
constexpr std::size_t kMostTypes = 32;

// As the original's exporter names them; a client that makes up a method must not make a series.
std::string method_label(std::string_view method) {
  constexpr std::array<std::string_view, 10> kKnown = {
      "get", "put", "head", "post", "delete", "connect", "options", "notify", "trace", "patch"};
  std::string lower = to_lower(method);
  return std::ranges::find(kKnown, lower) != kKnown.end() ? lower : "unknown";
}

// Those that 01, 1.3 gives a meaning; a plugin may choose any number.
std::string code_label(std::uint64_t code) {
  constexpr std::array<std::uint64_t, 12> kKnown = {1, 2, 3, 4, 5, 6, 7, 8, 11, 50, 51, 999};
  return std::ranges::find(kKnown, code) != kKnown.end() ? cat(code) : "other";
}

Buckets request_buckets() {
  return {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 240};
}

Buckets wait_buckets() { return {0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120}; }

Buckets delegate_buckets() {
  return {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180};
}

Buckets own_share_buckets() {
  return {0.0001, 0.0002, 0.0003, 0.0004, 0.0005, 0.00075, 0.001, 0.0015, 0.002,
          0.003,  0.005,  0.01,   0.025,  0.05,   0.1,     0.5,   2.5,    10};
}

// A series that another object keeps.
struct Foreign {
  prometheus::MetricFamily family;  // without values
  std::function<std::vector<Sample>()> read;
};

prometheus::ClientMetric client_metric(prometheus::MetricType type, Sample&& sample) {
  prometheus::ClientMetric metric;
  for (auto& [name, value] : sample.labels) metric.label.push_back({name, value});
  if (type == prometheus::MetricType::Counter) {
    metric.counter.value = sample.value;
  } else {
    metric.gauge.value = sample.value;
  }
  return metric;
}

prometheus::MetricFamily read_now(const Foreign& foreign) {
  prometheus::MetricFamily family = foreign.family;
  for (Sample& sample : foreign.read()) {
    family.metric.push_back(client_metric(family.type, std::move(sample)));
  }
  return family;
}

}  // namespace

struct Metrics::Impl {
  Family<Counter>& counter(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry);
  }
  Family<Histogram>& histogram(const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry);
  }
  Family<Gauge>& gauge(const char* name, const char* help) {
    return prometheus::BuildGauge().Name(name).Help(help).Register(registry);
  }

  prometheus::Registry registry;
  Family<Counter>& requests = counter("multus_server_request_total", "Counter of HTTP requests");
  ByCommand durations{histogram("multus_request_duration_seconds",
                                "Time from the arrival of a request to its answer, by CNI command"),
                      request_buckets()};
  ByCommand waits{histogram("multus_request_queue_wait_seconds",
                            "Time that a request waited to be executed, by CNI command"),
                  wait_buckets()};
  ByCommand own_shares{
      histogram("multus_request_own_duration_seconds",
                "Time from the admission of a request to its answer in which none of its delegates "
                "ran or waited, by CNI command"),
      own_share_buckets()};
  Family<Counter>& errors =
      counter("multus_request_errors_total", "Failed requests, by CNI command and CNI error code");
  Family<Counter>& dropped =
      counter("multus_requests_dropped_total", "Requests whose client left while they waited");
  Family<Counter>& undone =
      counter("multus_undone_on_disconnect_total", "ADDs undone because their client had left");
  Family<Counter>& incomplete =
      counter("multus_incomplete_dels_total", "DELs that could not remove everything");
  Family<Counter>& failed_checks =
      counter("multus_failed_checks_total",
              "Networks that failed a CHECK without failing their pod (checkNetworks)");
  Family<Counter>& replays =
      counter("multus_pending_del_replays_total", "Replays of pending DELs, by outcome");
  Family<Counter>& bad_records =
      counter("multus_pending_del_bad_records_total",
              "Records of pending DELs that could not be used and were set aside");
  Family<Histogram>& delegates =
      histogram("multus_delegate_duration_seconds",
                "Run time of delegate processes, by type of plugin and CNI command");
  std::map<std::string, ByCommand> delegates_by_type;
  ByCommand delegate_waits{histogram("multus_delegate_queue_wait_seconds",
                                     "Time that delegates waited for a slot, by CNI command"),
                           wait_buckets()};
  Family<Histogram>& hotplugs =
      histogram("multus_hotplug_duration_seconds",
                "Time that plugging one network in or out by annotation took");
  Family<Counter>& delegate_failures =
      counter("multus_delegate_failures_total",
              "Delegate processes that failed, by type of plugin, CNI command and reason");
  Family<Counter>& missing =
      counter("multus_delegate_binary_missing_total",
              "Times that a plugin's executable was not found, by type of plugin");
  Family<Counter>& config_writes = counter("multus_config_writes_total",
                                           "Times that the node's CNI configuration was generated");
  Family<Counter>& config_fights = counter("multus_config_fights_total",
                                           "Times that another program removed the node's CNI "
                                           "configuration again after it was restored");
  Family<Gauge>& certificate = gauge("multus_client_certificate_expiration_timestamp_seconds",
                                     "When the current client certificate expires");
  BoundedLabel types{kMostTypes}, missing_types{kMostTypes};
  std::map<std::string, std::chrono::steady_clock::time_point, std::less<>> missing_at;
  std::vector<Foreign> foreign;
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {
  // There from the start, so that a rate can be taken of the first event.
  for (auto* family : {&impl_->dropped, &impl_->undone, &impl_->incomplete, &impl_->failed_checks,
                       &impl_->bad_records, &impl_->config_fights}) {
    family->Add({});
  }
  for (auto* family : {&impl_->replays, &impl_->config_writes}) {
    family->Add({{"outcome", "success"}});
    family->Add({{"outcome", "failure"}});
  }
  const Version& built = build_version();
  impl_->gauge("multus_build_info", "Version and commit of this build; the value is always 1")
      .Add({{"version", std::string(built.version)}, {"commit", std::string(built.commit)}})
      .Set(1);
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
  impl_->durations.observe(command, time);
}

void Metrics::observe_wait(std::string_view command, std::chrono::duration<double> time) {
  impl_->waits.observe(command, time);
}

void Metrics::observe_own_share(std::string_view command, std::chrono::duration<double> time) {
  impl_->own_shares.observe(command, time);
}

void Metrics::count_error(std::string_view command, std::uint64_t code) {
  impl_->errors.Add({{"command", command_label(command)}, {"code", code_label(code)}}).Increment();
}

void Metrics::count_dropped() { impl_->dropped.Add({}).Increment(); }

void Metrics::count_undone_on_disconnect() { impl_->undone.Add({}).Increment(); }

void Metrics::count_incomplete_del() { impl_->incomplete.Add({}).Increment(); }

void Metrics::count_failed_checks(std::uint64_t networks) {
  impl_->failed_checks.Add({}).Increment(static_cast<double>(networks));
}

void Metrics::count_replay(bool succeeded) {
  impl_->replays.Add({{"outcome", succeeded ? "success" : "failure"}}).Increment();
}

void Metrics::count_bad_record() { impl_->bad_records.Add({}).Increment(); }

void Metrics::observe_delegate(const DelegateRun& run) {
  const std::string type = impl_->types.of(run.type);
  if (const auto missed = impl_->missing_at.find(run.type); missed != impl_->missing_at.end()) {
    impl_->missing_at.erase(missed);
  }
  auto found = impl_->delegates_by_type.find(type);
  if (found == impl_->delegates_by_type.end()) {
    ByCommand made(impl_->delegates, delegate_buckets(), {{"type", type}});
    found = impl_->delegates_by_type.emplace(type, std::move(made)).first;
  }
  found->second.observe(run.command, run.took);
  impl_->delegate_waits.observe(run.command, run.waited);
  if (run.end == DelegateRun::End::kSuccess) return;
  const char* reason = run.end == DelegateRun::End::kTimeout ? "timeout" : "error";
  impl_->delegate_failures
      .Add({{"type", type}, {"command", command_label(run.command)}, {"reason", reason}})
      .Increment();
}

void Metrics::observe_hotplug(std::string_view op, std::chrono::duration<double> time) {
  impl_->hotplugs.Add({{"op", std::string(op)}}, request_buckets()).Observe(time.count());
}

void Metrics::count_missing_plugin(std::string_view type) {
  const std::string label = impl_->missing_types.of(type);
  impl_->missing.Add({{"type", label}}).Increment();
  impl_->missing_at[label] = std::chrono::steady_clock::now();
}

std::vector<std::string> Metrics::missing_plugins(std::chrono::steady_clock::time_point now) const {
  std::vector<std::string> types;
  for (const auto& [type, last] : impl_->missing_at) {
    if (now - last < kMissingFor) types.push_back(type);
  }
  return types;
}

void Metrics::count_config_write(bool succeeded) {
  impl_->config_writes.Add({{"outcome", succeeded ? "success" : "failure"}}).Increment();
}

void Metrics::count_config_fight() { impl_->config_fights.Add({}).Increment(); }

void Metrics::set_certificate_expiry(std::chrono::system_clock::time_point end) {
  const std::chrono::duration<double> since_epoch = end.time_since_epoch();
  impl_->certificate.Add({}).Set(since_epoch.count());
}

std::optional<std::chrono::system_clock::time_point> Metrics::certificate_expiry() const {
  for (const prometheus::MetricFamily& family : impl_->certificate.Collect()) {
    for (const prometheus::ClientMetric& metric : family.metric) {
      const auto since_epoch = std::chrono::duration<double>(metric.gauge.value);
      return std::chrono::system_clock::time_point(
          std::chrono::duration_cast<std::chrono::seconds>(since_epoch));
    }
  }
  return std::nullopt;
}

void Metrics::add_gauge(const std::string& name, const std::string& help,
                        std::function<double()> read) {
  add_series(SeriesKind::kGauge, name, help,
             [read = std::move(read)] { return std::vector{Sample{.value = read()}}; });
}

void Metrics::add_series(SeriesKind kind, std::string name, std::string help,
                         std::function<std::vector<Sample>()> read) {
  prometheus::MetricFamily family;
  family.name = std::move(name);
  family.help = std::move(help);
  family.type = kind == SeriesKind::kCounter ? prometheus::MetricType::Counter
                                             : prometheus::MetricType::Gauge;
  impl_->foreign.push_back({std::move(family), std::move(read)});
}

std::string Metrics::text() const {
  std::vector<prometheus::MetricFamily> families = impl_->registry.Collect();
  for (const Foreign& foreign : impl_->foreign) families.push_back(read_now(foreign));
  // A family without a series yet would be a help text for nothing.
  std::erase_if(families, [](const auto& family) { return family.metric.empty(); });
  return prometheus::TextSerializer().Serialize(families) + process_text();
}

}  // namespace mnet::metrics
