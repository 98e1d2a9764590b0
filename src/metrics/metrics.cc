#include "metrics/metrics.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/version.h"
#include "metrics/label.h"
#include "metrics/process.h"
#include "metrics/series.h"

namespace mnet::metrics {
namespace {

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

// Upper limits of buckets, in seconds.
constexpr auto kRequestLimits = std::to_array<double>(
    {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 240});
constexpr auto kWaitLimits =
    std::to_array<double>({0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120});
constexpr auto kDelegateLimits =
    std::to_array<double>({0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180});
constexpr auto kOwnShareLimits =
    std::to_array<double>({0.0001, 0.0002, 0.0003, 0.0004, 0.0005, 0.00075, 0.001, 0.0015, 0.002,
                           0.003, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5, 10});

// A series that another object keeps.
struct Foreign {
  SeriesKind kind;
  std::string name, help;
  std::function<std::vector<Sample>()> read;
};

void write(std::string& page, const Foreign& foreign) {
  const std::vector<Sample> samples = foreign.read();
  if (samples.empty()) return;
  write_heading(page, foreign.name, foreign.help,
                foreign.kind == SeriesKind::kCounter ? "counter" : "gauge");
  for (const Sample& sample : samples) {
    write_value(page, foreign.name, sample.labels, sample.value);
  }
}

}  // namespace

struct Metrics::Impl {
  Numbers& counter(const char* name, const char* help) {
    return numbers.emplace_back("counter", name, help);
  }
  Numbers& gauge(const char* name, const char* help) {
    return numbers.emplace_back("gauge", name, help);
  }
  Histograms& histogram(const char* name, const char* help, std::span<const double> limits) {
    return histograms.emplace_back(name, help, limits);
  }

  std::list<Numbers> numbers;
  std::list<Histograms> histograms;
  Numbers& requests = counter("multus_server_request_total", "Counter of HTTP requests");
  ByCommand durations{histogram("multus_request_duration_seconds",
                                "Time from the arrival of a request to its answer, by CNI command",
                                kRequestLimits)};
  ByCommand waits{histogram("multus_request_queue_wait_seconds",
                            "Time that a request waited to be executed, by CNI command",
                            kWaitLimits)};
  ByCommand own_shares{
      histogram("multus_request_own_duration_seconds",
                "Time from the admission of a request to its answer in which none of its delegates "
                "ran or waited, by CNI command",
                kOwnShareLimits)};
  Numbers& errors =
      counter("multus_request_errors_total", "Failed requests, by CNI command and CNI error code");
  Numbers& dropped =
      counter("multus_requests_dropped_total", "Requests whose client left while they waited");
  Numbers& undone =
      counter("multus_undone_on_disconnect_total", "ADDs undone because their client had left");
  Numbers& incomplete =
      counter("multus_incomplete_dels_total", "DELs that could not remove everything");
  Numbers& failed_checks =
      counter("multus_failed_checks_total",
              "Networks that failed a CHECK without failing their pod (checkNetworks)");
  Numbers& replays =
      counter("multus_pending_del_replays_total", "Replays of pending DELs, by outcome");
  Numbers& bad_records =
      counter("multus_pending_del_bad_records_total",
              "Records of pending DELs that could not be used and were set aside");
  Histograms& delegates = histogram(
      "multus_delegate_duration_seconds",
      "Run time of delegate processes, by type of plugin and CNI command", kDelegateLimits);
  std::map<std::string, ByCommand> delegates_by_type;
  ByCommand delegate_waits{histogram("multus_delegate_queue_wait_seconds",
                                     "Time that delegates waited for a slot, by CNI command",
                                     kWaitLimits)};
  Histograms& hotplugs =
      histogram("multus_hotplug_duration_seconds",
                "Time that plugging one network in or out by annotation took", kRequestLimits);
  Numbers& delegate_failures =
      counter("multus_delegate_failures_total",
              "Delegate processes that failed, by type of plugin, CNI command and reason");
  Numbers& missing = counter("multus_delegate_binary_missing_total",
                             "Times that a plugin's executable was not found, by type of plugin");
  Numbers& config_writes = counter("multus_config_writes_total",
                                   "Times that the node's CNI configuration was generated");
  Numbers& config_fights = counter("multus_config_fights_total",
                                   "Times that another program removed the node's CNI "
                                   "configuration again after it was restored");
  Numbers& certificate = gauge("multus_client_certificate_expiration_timestamp_seconds",
                               "When the current client certificate expires");
  BoundedLabel types{kMostTypes}, missing_types{kMostTypes};
  std::map<std::string, std::chrono::steady_clock::time_point, std::less<>> missing_at;
  std::optional<std::chrono::system_clock::time_point> certificate_end;
  std::vector<Foreign> foreign;
};

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {
  // There from the start, so that a rate can be taken of the first event.
  for (auto* family : {&impl_->dropped, &impl_->undone, &impl_->incomplete, &impl_->failed_checks,
                       &impl_->bad_records, &impl_->config_fights}) {
    family->at();
  }
  for (auto* family : {&impl_->replays, &impl_->config_writes}) {
    family->at({{"outcome", "success"}});
    family->at({{"outcome", "failure"}});
  }
  const Version& built = build_version();
  impl_->gauge("multus_build_info", "Version and commit of this build; the value is always 1")
      .at({{"version", std::string(built.version)}, {"commit", std::string(built.commit)}}) = 1;
}

Metrics::~Metrics() = default;

void Metrics::count_request(std::string_view handler, int status, std::string_view method) {
  ++impl_->requests.at(
      {{"handler", std::string(handler)}, {"code", cat(status)}, {"method", method_label(method)}});
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
  ++impl_->errors.at({{"command", command_label(command)}, {"code", code_label(code)}});
}

void Metrics::count_dropped() { ++impl_->dropped.at(); }

void Metrics::count_undone_on_disconnect() { ++impl_->undone.at(); }

void Metrics::count_incomplete_del() { ++impl_->incomplete.at(); }

void Metrics::count_failed_checks(std::uint64_t networks) {
  impl_->failed_checks.at() += static_cast<double>(networks);
}

void Metrics::count_replay(bool succeeded) {
  ++impl_->replays.at({{"outcome", succeeded ? "success" : "failure"}});
}

void Metrics::count_bad_record() { ++impl_->bad_records.at(); }

void Metrics::observe_delegate(const DelegateRun& run) {
  const std::string type = impl_->types.of(run.type);
  if (const auto missed = impl_->missing_at.find(run.type); missed != impl_->missing_at.end()) {
    impl_->missing_at.erase(missed);
  }
  auto found = impl_->delegates_by_type.find(type);
  if (found == impl_->delegates_by_type.end()) {
    ByCommand made(impl_->delegates, {{"type", type}});
    found = impl_->delegates_by_type.emplace(type, std::move(made)).first;
  }
  found->second.observe(run.command, run.took);
  impl_->delegate_waits.observe(run.command, run.waited);
  if (run.end == DelegateRun::End::kSuccess) return;
  const char* reason = run.end == DelegateRun::End::kTimeout ? "timeout" : "error";
  ++impl_->delegate_failures.at(
      {{"type", type}, {"command", command_label(run.command)}, {"reason", reason}});
}

void Metrics::observe_hotplug(std::string_view op, std::chrono::duration<double> time) {
  impl_->hotplugs.at({{"op", std::string(op)}}).observe(time.count());
}

void Metrics::count_missing_plugin(std::string_view type) {
  const std::string label = impl_->missing_types.of(type);
  ++impl_->missing.at({{"type", label}});
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
  ++impl_->config_writes.at({{"outcome", succeeded ? "success" : "failure"}});
}

void Metrics::count_config_fight() { ++impl_->config_fights.at(); }

void Metrics::set_certificate_expiry(std::chrono::system_clock::time_point end) {
  const std::chrono::duration<double> since_epoch = end.time_since_epoch();
  impl_->certificate.at() = since_epoch.count();
  impl_->certificate_end = end;
}

std::optional<std::chrono::system_clock::time_point> Metrics::certificate_expiry() const {
  return impl_->certificate_end;
}

void Metrics::add_gauge(const std::string& name, const std::string& help,
                        std::function<double()> read) {
  add_series(SeriesKind::kGauge, name, help,
             [read = std::move(read)] { return std::vector{Sample{.value = read()}}; });
}

void Metrics::add_series(SeriesKind kind, std::string name, std::string help,
                         std::function<std::vector<Sample>()> read) {
  impl_->foreign.push_back({kind, std::move(name), std::move(help), std::move(read)});
}

std::string Metrics::text() const {
  std::string page;
  for (const Numbers& family : impl_->numbers) family.write(page);
  for (const Histograms& family : impl_->histograms) family.write(page);
  for (const Foreign& foreign : impl_->foreign) write(page, foreign);
  return page + process_text();
}

}  // namespace mnet::metrics
