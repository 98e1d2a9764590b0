#include "daemon/routes.h"

#include <sys/random.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "adapters/slots.h"
#include "aio/cancel.h"
#include "aio/failpoint.h"
#include "aio/task.h"
#include "attach/caller.h"
#include "base/failpoint.h"
#include "base/result.h"
#include "base/text.h"
#include "daemon/cni_service.h"
#include "daemon/readiness.h"
#include "daemon/request.h"
#include "http/http.h"
#include "wire/wire.h"

namespace mnet::daemon {
namespace {

// A body up to this size is read on arrival, a larger one only when it is its turn (03, 2.11).
constexpr std::uint64_t kReadOnArrival = 64u << 10;

// Not std::random_device: it asks the processor what it can do (CPUID), each time anew, and a
// virtual machine takes 20 us for that. An id only has to tell lines of the log apart.
std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) == sizeof number) return number;
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

bool is_small(const http::Exchange& exchange) {
  return !exchange.is_chunked() && exchange.content_length().value_or(0) <= kReadOnArrival;
}

// Behind the answer there is nobody left to be told of a failure; crashing is what counts here.
void after_sending() { (void)fail_here("reply-after-send"); }

}  // namespace

struct Routes::Route {
  enum class Kind : std::uint8_t { kCni, kDelegate, kHealth, kReady };
  std::string_view path;
  Kind kind;

  bool allows(std::string_view method) const {
    const bool is_probe = kind == Kind::kHealth || kind == Kind::kReady;
    return method == "POST" || (is_probe && method == "GET");
  }
};

const Routes::Route* Routes::find(std::string_view path) {
  static constexpr std::array kRoutes = {
      Route{"/cni", Route::Kind::kCni},
      Route{"/delegate", Route::Kind::kDelegate},
      Route{"/healthz", Route::Kind::kHealth},
      Route{"/readyz", Route::Kind::kReady},
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

aio::Task<http::Response> Routes::handle(std::shared_ptr<http::Exchange> exchange) {
  // The file's mode lets only root in; whoever changed it did not change this.
  if (exchange->peer_uid() != needs_.allowed_uid) {
    log_.error(
        cat("refused ", exchange->method(), " ", exchange->path(), " of ", exchange->peer()));
    co_return http::text_response(403, "forbidden");
  }
  const Route* route = find(exchange->path());
  if (route == nullptr) {
    log_.error(cat("http not found: ", exchange->method(), " ", exchange->path(), " of ",
                   exchange->peer()));
    needs_.metrics.count_request("NotFound", 404, exchange->method());
    http::Response nothing;
    nothing.status = 404;
    co_return nothing;
  }
  Result<http::Response> response = http::text_response(405, "Method not allowed");
  if (route->allows(exchange->method())) {
    const bool is_probe = route->kind == Route::Kind::kHealth || route->kind == Route::Kind::kReady;
    if (is_probe) {
      response = co_await probe(exchange, route);
    } else {
      response = co_await execute(exchange, route);
    }
  }
  // What fails here failed on its way in, and nobody counts that.
  if (response) needs_.metrics.count_request(route->path, response->status, exchange->method());
  co_return std::move(response);
}

// The body is ignored, and so only read where the client waits to be asked for it.
aio::Task<http::Response> Routes::probe(std::shared_ptr<http::Exchange> exchange,
                                        const Route* route) {
  if (exchange->header("Expect")) {
    auto body = co_await exchange->read_body();
    if (!body) co_return std::move(body).error();
  }
  http::Response response;
  if (route->kind != Route::Kind::kReady) co_return response;
  // The body stays empty (03, 2.7): people find the reason in a header.
  if (std::string why = needs_.readiness.why_not(); !why.empty()) {
    response.status = 500;
    response.headers = {{std::string(kNotReadyHeader), std::move(why)}};
  }
  co_return response;
}

aio::Task<http::Response> Routes::execute(std::shared_ptr<http::Exchange> exchange,
                                          const Route* route) {
  Arrival arrival = needs_.arrivals.next(exchange->header(wire::kRequestIdHeader).value_or(""));
  const auto caller = std::make_shared<attach::Caller>();
  arrival.caller = caller;
  Result<std::string> body = std::string();
  const bool is_read = is_small(*exchange);
  if (is_read) {
    body = co_await exchange->read_body();
    if (!body) co_return std::move(body).error();
  }
  exchange->on_gone([caller, ticket = arrival.ticket, &requests = needs_.requests] {
    caller->leave();
    requests.dismiss(ticket);
  });

  MNET_FAILPOINT_OR("request-before-admission", error_response);
  adapters::SlotRequest turn;
  turn.ticket = arrival.ticket;
  if (needs_.requests.is_full()) {
    Glance seen = glance(*body);
    turn.is_del = seen.is_del;
    turn.container_id = std::move(seen.container_id);
    if (turn.is_del) needs_.requests.dismiss_others(turn.container_id);
  }
  const auto place = co_await needs_.requests.acquire(std::move(turn));
  if (caller->gone()) {
    needs_.metrics.count_dropped();
    co_return aio::cancelled_error();
  }
  if (!place) co_return error_response(place.error());
  arrival.admitted = std::chrono::steady_clock::now();
  if (!is_read) {
    body = co_await exchange->read_body();
    if (!body) co_return std::move(body).error();
  }
  MNET_FAILPOINT_OR("request-after-admission", error_response);
  http::Response response;
  if (route->kind == Route::Kind::kCni) {
    response = co_await needs_.service.cni(*std::move(body), std::move(arrival));
  } else {
    response = co_await needs_.service.delegate(*std::move(body), std::move(arrival));
  }
  MNET_FAILPOINT_OR("reply-before-send", error_response);
  exchange->on_sent(after_sending);
  co_return response;
}

}  // namespace mnet::daemon
