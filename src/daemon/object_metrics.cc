#include "daemon/object_metrics.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/kube_source.h"
#include "base/text.h"
#include "certs/certs.h"
#include "daemon/objects.h"
#include "kube/kube.h"
#include "metrics/metrics.h"

namespace mnet::daemon {
namespace {

using Samples = std::vector<metrics::Sample>;

// One value for the pods, one for the network definitions.
Samples by_kind(double pods, double networks) {
  return {{.labels = {{"kind", "pod"}}, .value = pods},
          {.labels = {{"kind", "network"}}, .value = networks}};
}

double number(std::uint64_t count) { return static_cast<double>(count); }

double seconds(std::chrono::duration<double> time) { return time.count(); }

double seconds_down(const kube::Reflector& watch) {
  return seconds(watch.down_for().value_or(std::chrono::steady_clock::duration(0)));
}

// A request without an answer has no code; Kubernetes' own clients call it so, too.
Samples requests_of(const kube::Api& api) {
  Samples samples;
  for (const auto& [key, count] : api.request_counts()) {
    const auto& [verb, code] = key;
    samples.push_back({.labels = {{"verb", std::string(verb)},
                                  {"code", code == 0 ? std::string("<error>") : cat(code)}},
                       .value = number(count)});
  }
  return samples;
}

// `read` yields the value of one watch.
void add_watch(metrics::Metrics& metrics, metrics::SeriesKind kind, std::string name,
               std::string help, const adapters::KubeSource* source,
               std::function<double(const kube::Reflector&)> read) {
  metrics.add_series(kind, std::move(name), std::move(help), [source, read = std::move(read)] {
    return by_kind(read(source->pod_watch()), read(source->network_watch()));
  });
}

void add_watches(metrics::Metrics& metrics, const adapters::KubeSource* source) {
  using kube::Reflector;
  add_watch(metrics, metrics::SeriesKind::kGauge, "multus_store_synced",
            "Whether the store has received a complete list", source,
            [](const Reflector& watch) { return watch.is_synced() ? 1.0 : 0.0; });
  add_watch(metrics, metrics::SeriesKind::kGauge, "multus_watch_down_seconds",
            "How long the watch has been down; 0 while it is up", source, seconds_down);
  add_watch(metrics, metrics::SeriesKind::kGauge, "multus_watch_lag_seconds",
            "How far the store may lag: time since the last message of its watch; a healthy watch "
            "sends one every minute",
            source, [](const Reflector& watch) { return seconds(watch.silent_for()); });
  add_watch(metrics, metrics::SeriesKind::kCounter, "multus_watch_lists_total",
            "Complete initial lists, streamed or paged", source,
            [](const Reflector& watch) { return number(watch.counters().lists); });
  add_watch(metrics, metrics::SeriesKind::kCounter, "multus_watch_starts_total",
            "Watches that the API server accepted", source,
            [](const Reflector& watch) { return number(watch.counters().streams); });
  add_watch(metrics, metrics::SeriesKind::kCounter, "multus_watch_failures_total",
            "Lists and watches that failed", source,
            [](const Reflector& watch) { return number(watch.counters().failures); });
  add_watch(metrics, metrics::SeriesKind::kCounter, "multus_watch_skipped_objects_total",
            "Objects that could not be read", source,
            [](const Reflector& watch) { return number(watch.counters().skipped); });
}

Samples token_end_of(const kube::Api& api) {
  const auto end = api.token_end();
  if (!end) return {};
  return {{.value = seconds(end->time_since_epoch())}};
}

Samples token_lifetime_of(const kube::Api& api) {
  const auto life = api.token_lifetime();
  if (!life) return {};
  return {{.value = seconds(*life)}};
}

void add_texts(metrics::Metrics& metrics, const adapters::KubeSource* source) {
  metrics.add_gauge("multus_store_text_bytes",
                    "Memory that the texts of network definitions take; at most 4 MiB",
                    [source] { return number(source->networks().text_bytes()); });
  metrics.add_series(
      metrics::SeriesKind::kCounter, "multus_store_evicted_texts_total",
      "Texts of network definitions that were removed from memory to make room for others",
      [source] { return Samples{{.value = number(source->networks().evictions())}}; });
}

void add_api(metrics::Metrics& metrics, const adapters::KubeSource* source) {
  metrics.add_series(metrics::SeriesKind::kCounter, "multus_api_requests_total",
                     "Requests to the API server, by verb and status code",
                     [source] { return requests_of(source->api()); });
  metrics.add_series(metrics::SeriesKind::kGauge,
                     "multus_client_token_expiration_timestamp_seconds",
                     "When the current token for the API server expires",
                     [source] { return token_end_of(source->api()); });
  metrics.add_series(metrics::SeriesKind::kGauge, "multus_client_token_lifetime_seconds",
                     "Total lifetime of that token",
                     [source] { return token_lifetime_of(source->api()); });
  metrics.add_gauge("multus_api_requests_in_progress", "Requests to the API server in progress",
                    [source] { return number(source->api().gate().running()); });
  metrics.add_gauge("multus_api_requests_queued", "Requests to the API server that are queued",
                    [source] { return number(source->api().gate().waiting()); });
  metrics.add_series(metrics::SeriesKind::kCounter, "multus_live_reads_total",
                     "Objects that the stores lacked and that were read from the API server",
                     [source] { return Samples{{.value = number(source->live_reads())}}; });
  metrics.add_series(metrics::SeriesKind::kCounter, "multus_events_dropped_total",
                     "Events of pods that were dropped",
                     [source] { return Samples{{.value = number(source->events_dropped())}}; });
}

void add_certificate(metrics::Metrics& metrics, const certs::NodeCertificate* certificate) {
  metrics.add_series(
      metrics::SeriesKind::kCounter, "multus_certificate_requests_denied_total",
      "Requests for this node's certificate that were denied, or that the signer failed",
      [certificate] { return Samples{{.value = number(certificate->denied())}}; });
}

}  // namespace

void add_certificate_metrics(metrics::Metrics& metrics, const certs::NodeCertificate* certificate) {
  metrics.add_series(metrics::SeriesKind::kGauge, "multus_client_certificate_lifetime_seconds",
                     "Total lifetime of the current client certificate", [certificate] {
                       const auto life = certificate->lifetime();
                       return life ? Samples{{.value = seconds(*life)}} : Samples();
                     });
  metrics.add_gauge("multus_client_certificate_wanted_seconds",
                    "How long a client certificate has been requested in vain; 0: none is wanted",
                    [certificate] { return seconds(certificate->wanted_for()); });
}

void add_object_metrics(metrics::Metrics& metrics, const Objects& objects) {
  if (objects.failure()) return;
  metrics.add_series(metrics::SeriesKind::kGauge, "multus_store_objects",
                     "Objects in the store that follows the API server or the folder of manifests",
                     [&objects] {
                       const Objects::Sizes sizes = objects.sizes();
                       return by_kind(number(sizes.pods), number(sizes.networks));
                     });
  if (objects.certificate() != nullptr) add_certificate(metrics, objects.certificate());
  if (objects.kube() == nullptr) return;
  add_watches(metrics, objects.kube());
  add_texts(metrics, objects.kube());
  add_api(metrics, objects.kube());
}

}  // namespace mnet::daemon
