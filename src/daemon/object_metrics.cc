#include "daemon/object_metrics.h"

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "adapters/kube_source.h"
#include "kube/kube.h"

namespace mnet::daemon {
namespace {

using Samples = std::vector<Sample>;

// One value for the pods, one for the network definitions.
Samples by_kind(double pods, double networks) {
  return {{.labels = {{"kind", "pod"}}, .value = pods},
          {.labels = {{"kind", "network"}}, .value = networks}};
}

double number(std::uint64_t count) { return static_cast<double>(count); }

double seconds_down(const kube::Reflector& watch) {
  const auto down = watch.down_for();
  return down ? std::chrono::duration<double>(*down).count() : 0;
}

// `read` yields the value of one watch.
void add_watch(Metrics& metrics, SeriesKind kind, std::string name, std::string help,
               const adapters::KubeSource* source,
               std::function<double(const kube::Reflector&)> read) {
  metrics.add_series(kind, std::move(name), std::move(help), [source, read = std::move(read)] {
    return by_kind(read(source->pod_watch()), read(source->network_watch()));
  });
}

void add_watches(Metrics& metrics, const adapters::KubeSource* source) {
  using kube::Reflector;
  add_watch(metrics, SeriesKind::kGauge, "multus_store_synced",
            "Whether the store has held a complete collection", source,
            [](const Reflector& watch) { return watch.is_synced() ? 1.0 : 0.0; });
  add_watch(metrics, SeriesKind::kGauge, "multus_watch_down_seconds",
            "How long no watch has been up; 0 while one is", source, seconds_down);
  add_watch(metrics, SeriesKind::kCounter, "multus_watch_lists_total",
            "Complete initial lists, streamed or paged", source,
            [](const Reflector& watch) { return number(watch.counters().lists); });
  add_watch(metrics, SeriesKind::kCounter, "multus_watch_starts_total",
            "Watches that the API server accepted", source,
            [](const Reflector& watch) { return number(watch.counters().streams); });
  add_watch(metrics, SeriesKind::kCounter, "multus_watch_failures_total",
            "Lists and watches that failed", source,
            [](const Reflector& watch) { return number(watch.counters().failures); });
  add_watch(metrics, SeriesKind::kCounter, "multus_watch_skipped_objects_total",
            "Objects that could not be read", source,
            [](const Reflector& watch) { return number(watch.counters().skipped); });
}

}  // namespace

void add_object_metrics(Metrics& metrics, const Objects& objects) {
  if (objects.failure()) return;
  metrics.add_series(SeriesKind::kGauge, "multus_store_objects",
                     "Objects in the store that follows the API server or the folder of manifests",
                     [&objects] {
                       const Objects::Sizes sizes = objects.sizes();
                       return by_kind(number(sizes.pods), number(sizes.networks));
                     });
  if (objects.kube() != nullptr) add_watches(metrics, objects.kube());
}

}  // namespace mnet::daemon
