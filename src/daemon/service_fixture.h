// For tests: the routes on a real unix socket, with a fake core behind them.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "admission/admission.h"
#include "admission/delegate_times.h"
#include "aio/blocking_pool.h"
#include "aio/group.h"
#include "base/log.h"
#include "base/test_log.h"
#include "base/text.h"
#include "chain/slots.h"
#include "daemon/cni_service.h"
#include "daemon/config.h"
#include "daemon/fake_core.h"
#include "daemon/pending_del_replay.h"
#include "daemon/readiness.h"
#include "daemon/routes.h"
#include "handover/container_locks.h"
#include "http/http.h"
#include "http/raw_client.h"
#include "http/server_fixture.h"
#include "metrics/metrics.h"
#include "sys/test_dir.h"

namespace mnet::daemon {

struct ServiceOptions {
  std::string config = R"({"clusterNetwork":"a"})";  // daemon-config.json
  std::optional<std::uint32_t> allowed_uid;
  http::Limits limits;
  std::size_t most_of_namespace = 1000;  // of pending DELs
};

// Everything the routes need; lives on the loop.
class Service {
 public:
  Service(const aio::asio::any_io_executor& executor, const Config& config,
          const ServiceOptions& options, const std::string& socket, const Log& log)
      : config_(config),
        readiness(config.readiness_indicator_file),
        requests(config.connection_limit),
        pending({.pool = pool_,
                 .core = core,
                 .requests = requests,
                 .metrics = metrics,
                 .rules = RequestRules(config_),
                 .next_arrival = [this] { return arrivals_.next(); },
                 .most_of_namespace = options.most_of_namespace},
                log),
        service_({.core = core,
                  .hotplug = core,
                  .pending = pending,
                  .readiness = readiness,
                  .metrics = metrics,
                  .times = times_,
                  .locks = locks_,
                  .rules = RequestRules(config_)},
                 log),
        routes_({.service = service_,
                 .readiness = readiness,
                 .requests = requests,
                 .metrics = metrics,
                 .arrivals = arrivals_,
                 .allowed_uid = options.allowed_uid.value_or(::getuid())},
                log),
        server(executor, routes_.handler(), options.limits, log),
        group(executor, log) {
    readiness.start_serving();
    server.serve(http::listen_unix(socket));
  }

 private:
  Config config_;
  aio::BlockingPool pool_{2};
  Arrivals arrivals_;
  chain::UnlimitedSlots slots_;
  admission::DelegateTimes times_{slots_};
  handover::ContainerLocks locks_{"/nowhere", {}};  // alone: no file is made

 public:
  Readiness readiness;
  metrics::Metrics metrics;
  FakeCore core;
  admission::Admission requests;
  PendingDelReplay pending;

 private:
  CniService service_;
  Routes routes_;

 public:
  http::Server server;
  aio::Group group;
};

class TestService {
 public:
  explicit TestService(const ServiceOptions& options = {}) : lines(std::make_shared<TestLog>()) {
    const auto config = parse_config(options.config);
    loop.on_loop([&] {
      service_ = std::make_unique<Service>(loop.executor(), config.value(), options, socket(),
                                           Log({lines}, LogLevel::kDebug));
    });
  }
  ~TestService() {
    loop.on_loop([this] {
      service_->core.open();
      service_->server.stop_accepting();
      service_->group.cancel();
    });
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    (void)loop.run(service_->server.drain(end));
    (void)loop.run(service_->group.join(end));
    loop.on_loop([this] { service_.reset(); });
  }

  std::string socket() const { return dir / "s"; }
  // Runs `look` with the service, on its loop.
  template <typename Look>
  auto with(Look look) {
    return loop.on_loop([this, &look] { return look(*service_); });
  }
  Service& service() { return *service_; }
  std::vector<std::string> order() {
    return with([](Service& service) { return service.core.order; });
  }
  std::vector<FakeCore::Called> calls() {
    return with([](Service& service) { return service.core.calls; });
  }
  // Until the core has noted `step`.
  void wait_for(const std::string& step) {
    while (std::ranges::count(order(), step) == 0) std::this_thread::yield();
  }

  http::Response ask(std::string method, std::string target, std::string body = "",
                     http::Headers headers = {}) {
    http::ClientRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.headers = std::move(headers);
    request.body = std::move(body);
    return loop
        .run(http::request_unix(socket(), std::move(request),
                                std::chrono::steady_clock::now() + std::chrono::seconds(20)))
        .value();
  }

  sys::TestDir dir;
  http::LoopThread loop;
  std::shared_ptr<TestLog> lines;

 private:
  std::unique_ptr<Service> service_;
};

// Body of a request: `env` in JSON, the configuration as text.
inline std::string request_body(std::string_view env, std::string_view config) {
  return cat(R"({"env":)", env, R"(,"config":")", to_base64(config), "\"}");
}

inline std::string env_of(std::string_view command, std::string_view container = "c1",
                          std::string_view args = "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=p") {
  return cat(R"({"CNI_COMMAND":")", command, R"(","CNI_CONTAINERID":")", container,
             R"(","CNI_NETNS":"/ns","CNI_IFNAME":"eth0","CNI_ARGS":")", args,
             R"(","CNI_PATH":"/opt"})");
}

}  // namespace mnet::daemon
