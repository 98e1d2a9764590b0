// The paths of the daemon's socket (03, 2.7): which client may ask, which requests wait for
// their turn, what is counted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "admission/admission.h"
#include "aio/task.h"
#include "base/log.h"
#include "base/result.h"
#include "daemon/cni_service.h"
#include "daemon/readiness.h"
#include "daemon/request.h"
#include "http/http.h"
#include "metrics/metrics.h"

namespace mnet::daemon {

// Numbers requests in order of arrival and names those that bring no name.
class Arrivals {
 public:
  // `id`: what the client calls its request; anything but a request id is replaced.
  Arrival next(std::string_view id = {});
  // So far.
  std::uint64_t count() const { return ticket_; }

  // One that is served, or waits for that, for as long as this exists.
  class Served {
   public:
    Served(Arrivals& arrivals, std::uint64_t ticket)
        : arrivals_(arrivals), place_(arrivals.served_.insert(ticket).first) {}
    Served(const Served&) = delete;
    Served& operator=(const Served&) = delete;
    ~Served() { arrivals_.served_.erase(place_); }

   private:
    Arrivals& arrivals_;
    std::set<std::uint64_t>::iterator place_;
  };
  // Whether one of the first `count` is served.
  bool serves_among(std::uint64_t count) const {
    return !served_.empty() && *served_.begin() <= count;
  }

 private:
  std::uint64_t ticket_ = 0;
  std::set<std::uint64_t> served_;
};

struct RoutesNeeds {
  CniService& service;
  Readiness& readiness;
  admission::Admission& requests;
  metrics::Metrics& metrics;
  Arrivals& arrivals;
  // Another daemon is about to take over: locks what this one works on.
  std::function<Result<void>()> share_locks = {};
  std::uint32_t allowed_uid = 0;
  std::function<aio::Task<std::string>()> status = {};  // the body of /status; none: no such path
  // What operators ask for: path and body in, the answer's body out; none: no such path.
  std::function<aio::Task<std::string>(std::string path, std::string body)> operate = {};
};

class Routes {
 public:
  Routes(RoutesNeeds needs, Log log) : needs_(std::move(needs)), log_(std::move(log)) {}

  // Everything it refers to must outlive the server that calls it.
  http::Handler handler();
  // Answers probes and nothing else.
  http::Handler probe_handler();

 private:
  struct Route;
  static const Route* find(std::string_view path);

  aio::Task<http::Response> handle(std::shared_ptr<http::Exchange> exchange);
  aio::Task<http::Response> handle_probe(std::shared_ptr<http::Exchange> exchange);
  // The answer if nothing need be executed; none if something must be.
  std::optional<http::Response> refuse(const http::Exchange& exchange, const Route* route);
  http::Response hand_over(const http::Exchange& exchange);
  aio::Task<http::Response> probe(std::shared_ptr<http::Exchange> exchange, const Route* route);
  aio::Task<http::Response> tell_status(std::shared_ptr<http::Exchange> exchange,
                                        const Route* route);
  aio::Task<http::Response> operate(std::shared_ptr<http::Exchange> exchange, const Route* route);
  aio::Task<http::Response> execute(std::shared_ptr<http::Exchange> exchange, const Route* route);
  aio::Task<http::Response> execute_alone(std::shared_ptr<http::Exchange> exchange,
                                          const Route* route);
  Arrival arrive(const http::Exchange& exchange);
  void watch_client(http::Exchange& exchange, const Arrival& arrival);
  aio::Task<chain::Slot> turn(std::uint64_t ticket, const Route* route, std::string_view body);
  void count(const http::Exchange& exchange, std::string_view path, const http::Response& response);
  http::Response counted(const http::Exchange& exchange, std::string_view path,
                         http::Response response);

  RoutesNeeds needs_;
  Log log_;
  // For large bodies of /delegate, one at a time: their configurations are tenants', and no room is
  // taken for them before they are read.
  admission::Admission large_delegates_{1};
};

}  // namespace mnet::daemon
