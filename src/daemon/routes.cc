#include "daemon/routes.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "aio/cancel.h"
#include "aio/failpoint.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/failpoint.h"
#include "base/random_number.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/caller.h"
#include "chain/slots.h"
#include "daemon/cni_service.h"
#include "daemon/operations.h"
#include "daemon/readiness.h"
#include "daemon/request.h"
#include "handover/handover.h"
#include "http/http.h"
#include "wire/wire.h"

namespace mnet::daemon {
namespace {

// A body up to this size is read on arrival, a larger one only when it is its turn (03, 2.11).
constexpr std::uint64_t kReadOnArrival = 64u << 10;

constexpr std::string_view kKeepAlive = "keep-alive";

// In the place of the pod's namespace while the body is unread. No namespace has such a name, so
// these requests share with each other alone.
constexpr std::string_view kUnread = "/unread";

// A body of /delegate up to this size waits like any request; larger ones go one at a time.
constexpr std::uint64_t kSmallDelegate = 16u << 10;

bool is_small(const http::Exchange& exchange, std::uint64_t most) {
  return !exchange.is_chunked() && exchange.content_length().value_or(0) <= most;
}

aio::Task<http::Response> at_once(http::Response response) { co_return response; }

// No client hears of a failure after the answer; what counts here is crashing.
void after_sending() { (void)fail_here("reply-after-send"); }

}  // namespace

struct Routes::Route {
  enum class Kind : std::uint8_t {
    kCni,
    kDelegate,
    kHealth,
    kReady,
    kHandover,
    kStatus,
    kOperation
  };
  std::string_view path;
  Kind kind;

  CniPath path_of_cni() const { return is_cni() ? CniPath::kCni : CniPath::kDelegate; }
  bool is_cni() const { return kind == Kind::kCni; }
  bool is_probe() const { return kind == Kind::kHealth || kind == Kind::kReady; }
  bool allows(std::string_view method) const {
    if (kind == Kind::kStatus || path == Operations::kList) return method == "GET";
    return method == "POST" || (is_probe() && method == "GET");
  }
};

const Routes::Route* Routes::find(std::string_view path) {
  static constexpr std::array kRoutes = {
      Route{"/cni", Route::Kind::kCni},
      Route{"/delegate", Route::Kind::kDelegate},
      Route{"/healthz", Route::Kind::kHealth},
      Route{"/readyz", Route::Kind::kReady},
      Route{handover::kPath, Route::Kind::kHandover},
      Route{"/status", Route::Kind::kStatus},
      Route{Operations::kList, Route::Kind::kOperation},
      Route{Operations::kRetry, Route::Kind::kOperation},
      Route{Operations::kDrop, Route::Kind::kOperation},
      Route{Operations::kGc, Route::Kind::kOperation},
      Route{Operations::kCheck, Route::Kind::kOperation},
  };
  for (const Route& route : kRoutes) {
    if (route.path == path) return &route;
  }
  return nullptr;
}

Arrival Arrivals::next(std::string_view id) {
  Arrival arrival;
  arrival.id = wire::is_request_id(id) ? std::string(id) : wire::request_id(random_number());
  arrival.ticket = ++ticket_;
  return arrival;
}

http::Handler Routes::handler() {
  return [this](std::shared_ptr<http::Exchange> exchange) { return handle(std::move(exchange)); };
}

http::Handler Routes::probe_handler() {
  return [this](std::shared_ptr<http::Exchange> exchange) {
    return handle_probe(std::move(exchange));
  };
}

std::optional<http::Response> Routes::refuse(const http::Exchange& exchange, const Route* route) {
  // The file's mode lets only root in; this holds even if an administrator changed it.
  if (exchange.peer_uid() != needs_.allowed_uid) {
    log_.error(cat("refused ", excerpt(exchange.method()), " ", excerpt(exchange.path()), " of ",
                   exchange.peer()));
    return http::text_response(403, "forbidden");
  }
  if (route == nullptr) {
    log_.error(cat("http not found: ", excerpt(exchange.method()), " ", excerpt(exchange.path()),
                   " of ", exchange.peer()));
    http::Response nothing;
    nothing.status = 404;
    return counted(exchange, "NotFound", std::move(nothing));
  }
  if (route->allows(exchange.method())) return std::nullopt;
  return counted(exchange, route->path, http::text_response(405, "Method not allowed"));
}

aio::Task<http::Response> Routes::handle_probe(std::shared_ptr<http::Exchange> exchange) {
  const Route* route = find(exchange->path());
  if (route != nullptr && !route->is_probe()) route = nullptr;
  if (auto refused = refuse(*exchange, route)) return at_once(*std::move(refused));
  return probe(std::move(exchange), route);
}

// No coroutine, so that it costs nothing while the request waits for its turn beside a thousand
// others.
aio::Task<http::Response> Routes::handle(std::shared_ptr<http::Exchange> exchange) {
  const Route* route = find(exchange->path());
  if (auto refused = refuse(*exchange, route)) return at_once(*std::move(refused));
  if (route->is_probe()) return probe(std::move(exchange), route);
  if (route->kind == Route::Kind::kHandover) return at_once(hand_over(*exchange));
  if (route->kind == Route::Kind::kStatus) return tell_status(std::move(exchange), route);
  if (route->kind == Route::Kind::kOperation) return operate(std::move(exchange), route);
  if (route->path_of_cni() == CniPath::kDelegate && !is_small(*exchange, kSmallDelegate)) {
    return execute_alone(std::move(exchange), route);
  }
  return execute(std::move(exchange), route);
}

http::Response Routes::hand_over(const http::Exchange& exchange) {
  const auto shared = needs_.share_locks ? needs_.share_locks() : Result<void>();
  if (!shared)
    log_.verbose(
        cat("cannot share the container locks with another daemon yet: ", shared.error().text()));
  return counted(exchange, handover::kPath,
                 shared ? http::Response() : http::text_response(503, shared.error().text()));
}

// A request that fails before it is decoded is not counted.
void Routes::count(const http::Exchange& exchange, std::string_view path,
                   const http::Response& response) {
  needs_.metrics.count_request(path, response.status, exchange.method());
}

http::Response Routes::counted(const http::Exchange& exchange, std::string_view path,
                               http::Response response) {
  count(exchange, path, response);
  return response;
}

// The body is ignored, and so only read where the client waits to be asked for it.
aio::Task<http::Response> Routes::probe(std::shared_ptr<http::Exchange> exchange,
                                        const Route* route) {
  if (exchange->header("Expect")) {
    MNET_CO_TRY([[maybe_unused]] const auto& body, co_await exchange->read_body());
  }
  http::Response response;
  // The body stays empty (03, 2.7): people find the reason in a header.
  std::string why = route->kind == Route::Kind::kReady ? needs_.readiness.why_not() : "";
  if (!why.empty()) {
    response.status = 500;
    response.headers = {{std::string(kNotReadyHeader), std::move(why)}};
  }
  // Our shim sends its request on the same connection.
  if (exchange->header("Connection").value_or("") == kKeepAlive) {
    response.headers.emplace_back("Connection", kKeepAlive);
  }
  count(*exchange, route->path, response);
  co_return response;
}

// Waits for no turn: people ask when the node is busy.
aio::Task<http::Response> Routes::tell_status(std::shared_ptr<http::Exchange> exchange,
                                              const Route* route) {
  http::Response response;
  if (!needs_.status)
    co_return counted(*exchange, route->path,
                      http::text_response(404, "this daemon does not offer its status"));
  MNET_CO_TRY(auto&& body, co_await needs_.status());
  response.content_type = "application/json";
  response.body = std::move(body);
  count(*exchange, route->path, response);
  co_return response;
}

// Waits for no turn either; what it runs takes a turn of its own.
aio::Task<http::Response> Routes::operate(std::shared_ptr<http::Exchange> exchange,
                                          const Route* route) {
  if (!needs_.operate)
    co_return counted(*exchange, route->path,
                      http::text_response(404, "this daemon does not offer this operation"));
  MNET_CO_TRY(auto&& asked, co_await exchange->read_body());
  auto answer = co_await needs_.operate(std::string(route->path), std::move(asked));
  if (!answer) {
    const int status = answer.error().code() == Errc::kNotFound ? 404 : 400;
    co_return counted(*exchange, route->path, http::text_response(status, answer.error().text()));
  }
  http::Response response;
  response.content_type = "application/json";
  response.body = *std::move(answer);
  co_return counted(*exchange, route->path, std::move(response));
}

aio::Task<http::Response> Routes::execute(std::shared_ptr<http::Exchange> exchange,
                                          const Route* route) {
  const auto refused = [&](const Error& error) {
    return counted(*exchange, route->path, error_response(error));
  };
  Arrival arrival = arrive(*exchange);
  const Arrivals::Served served(needs_.arrivals, arrival.ticket);
  std::string body;
  const bool is_read = is_small(*exchange, kReadOnArrival);
  if (is_read) {
    MNET_CO_TRY(auto&& read, co_await exchange->read_body());
    body = std::move(read);
  }
  watch_client(*exchange, arrival);

  MNET_FAILPOINT_OR("request-before-admission", refused);
  const auto slot = co_await turn(arrival.ticket, route, body);
  if (arrival.caller->gone()) {
    needs_.metrics.count_dropped();
    co_return aio::cancelled_error();
  }
  if (!slot) co_return refused(slot.error());
  arrival.admitted = std::chrono::steady_clock::now();
  if (!is_read) {
    MNET_CO_TRY(auto&& read, co_await exchange->read_body());
    body = std::move(read);
  }
  MNET_FAILPOINT_OR("request-after-admission", refused);
  auto response =
      co_await needs_.service.serve(route->path_of_cni(), std::move(body), std::move(arrival));
  MNET_FAILPOINT_OR("reply-before-send", refused);
  exchange->on_sent(after_sending);
  count(*exchange, route->path, response);
  co_return response;
}

aio::Task<http::Response> Routes::execute_alone(std::shared_ptr<http::Exchange> exchange,
                                                const Route* route) {
  MNET_CO_TRY([[maybe_unused]] const auto& slot, co_await large_delegates_.acquire({}));
  co_return co_await execute(std::move(exchange), route);
}

Arrival Routes::arrive(const http::Exchange& exchange) {
  Arrival arrival = needs_.arrivals.next(exchange.header(wire::kRequestIdHeader).value_or(""));
  arrival.caller = std::make_shared<chain::Caller>();
  return arrival;
}

void Routes::watch_client(http::Exchange& exchange, const Arrival& arrival) {
  exchange.on_gone([caller = arrival.caller, ticket = arrival.ticket, &requests = needs_.requests] {
    caller->leave();
    requests.dismiss(ticket);
  });
}

// Not a coroutine, as handle(): the arguments are not kept while the request waits.
aio::Task<chain::Slot> Routes::turn(std::uint64_t ticket, const Route* route,
                                    std::string_view body) {
  Glance seen = body.empty() ? Glance{.ns = std::string(kUnread)} : glance(body);
  // A DEL ends the other waiting requests of its container; one that names none ends nothing. One
  // that unplugs an interface leaves those for other interfaces their turn.
  if (seen.is_del && route->is_cni() && !seen.container_id.empty()) {
    needs_.requests.dismiss_others(seen.container_id);
  }
  chain::SlotRequest turn;
  turn.ticket = ticket;
  turn.ns = std::move(seen.ns);
  turn.container_id = std::move(seen.container_id);
  turn.is_del = seen.is_del;
  return needs_.requests.acquire(std::move(turn));
}

}  // namespace mnet::daemon
