// What the daemon counts (03, 4.2), in the text format of Prometheus. Lives on the event loop. No
// label ever carries the name of a pod, namespace or container, and none takes more values than
// there is room for.
// Counters and histograms are here. Gauges of values that other objects keep are added by daemon/,
// where these objects are (add_gauge, add_series).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mnet::metrics {

// One value of a series that another object keeps.
struct Sample {
  std::map<std::string, std::string> labels = {};
  double value = 0;
};

enum class SeriesKind : std::uint8_t { kGauge, kCounter };

// How one delegate process went.
struct DelegateRun {
  std::string_view type, command;
  std::chrono::duration<double> waited{}, took{};
  enum class End : std::uint8_t { kSuccess, kError, kTimeout } end = End::kSuccess;
};

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // multus_server_request_total. `handler` is a route or `NotFound`; `method` as it was sent.
  void count_request(std::string_view handler, int status, std::string_view method);

  // How long one request took from its arrival to its answer; the part of it in which it waited to
  // be admitted; the part after that without its delegates' time.
  void observe_request(std::string_view command, std::chrono::duration<double> time);
  void observe_wait(std::string_view command, std::chrono::duration<double> time);
  void observe_own_share(std::string_view command, std::chrono::duration<double> time);
  // A request that failed, by the CNI error code that the runtime gets.
  void count_error(std::string_view command, std::uint64_t code);
  // A request whose client left before it was admitted.
  void count_dropped();
  void count_undone_on_disconnect();
  // A DEL that could not remove everything, whatever the runtime got as its answer.
  void count_incomplete_del();
  // Networks that failed a CHECK which succeeded all the same (`checkNetworks`).
  void count_failed_checks(std::uint64_t networks);
  void count_replay(bool succeeded);
  void count_bad_record();

  void observe_delegate(const DelegateRun& run);
  // How long it took to plug in (`add`) or unplug (`remove`) one network by annotation.
  void observe_hotplug(std::string_view op, std::chrono::duration<double> time);
  // A plugin that is in none of the directories.
  void count_missing_plugin(std::string_view type);
  // Types of plugins that were missing a short while ago and have not run since: what was repaired
  // is not reported for ever.
  static constexpr std::chrono::minutes kMissingFor{5};
  std::vector<std::string> missing_plugins(
      std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now()) const;

  // The node's own configuration (03, 6): written; not written because something was wrong; and
  // that another program keeps removing the file (06, pain 11).
  void count_config_write(bool succeeded);
  void count_config_fight();
  // When the current client certificate expires (03, 8). Not shown before the first call.
  void set_certificate_expiry(std::chrono::system_clock::time_point end);
  // None before the first call.
  std::optional<std::chrono::system_clock::time_point> certificate_expiry() const;

  // Shown with the value that `read` yields then.
  void add_gauge(const std::string& name, const std::string& help, std::function<double()> read);
  // The same for any number of label values; a name is given once.
  void add_series(SeriesKind kind, std::string name, std::string help,
                  std::function<std::vector<Sample>()> read);

  // All series, process_* included.
  std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mnet::metrics
