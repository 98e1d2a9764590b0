// What the daemon counts (03, 4.2), in the text format of Prometheus. Lives on the event loop. No
// label ever carries the name of a pod, namespace or container.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace mnet::daemon {

class Metrics {
 public:
  Metrics();
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // multus_server_request_total. `handler` is a route or `NotFound`; `method` as it was sent.
  void count_request(std::string_view handler, int status, std::string_view method);

  // How long one request took from its arrival to its answer.
  void observe_request(std::string_view command, std::chrono::duration<double> time);

  // The same without the time in line and without its delegates' time.
  void observe_own_share(std::string_view command, std::chrono::duration<double> time);

  void count_undone_on_disconnect();
  void count_replay(bool succeeded);
  void count_bad_record();

  // Shown with the value that `read` yields then.
  void add_gauge(const std::string& name, const std::string& help, std::function<double()> read);

  // All series, process_* included.
  std::string text() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mnet::daemon
