#include "kube/api.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "aio/timer.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/http.h"
#include "http/origin_client.h"
#include "http/proxy.h"
#include "http/url.h"
#include "kube/config.h"
#include "kube/credentials.h"
#include "kube/reply.h"
#include "kube/retries.h"

namespace mnet::kube {
namespace {

using Clock = std::chrono::steady_clock;

Result<std::optional<http::Url>> proxy_for(const Config& config, const http::Url& origin,
                                           const std::vector<std::string>& environment) {
  if (config.proxy_url.empty()) return http::proxy_of_environment(origin, environment);
  MNET_TRY(auto&& proxy, http::parse_proxy(config.proxy_url));
  return std::optional<http::Url>(std::move(proxy));
}

Credentials::Settings credential_settings(const ApiSettings& settings) {
  Credentials::Settings out = settings.credentials;
  out.environment = settings.environment;
  return out;
}

// Whether a path ends with a kind, not with an object's name: `/api/v1[/namespaces/NS]/KIND`.
bool is_collection(std::string_view path) {
  const std::vector<std::string_view> parts = split(path, '/');
  const std::size_t prefix = path.starts_with("/api/") ? 3 : 4;  // `/apis/GROUP/VERSION/`
  if (parts.size() <= prefix) return false;
  const std::size_t left = parts.size() - prefix;
  return left == (left > 2 && parts[prefix] == "namespaces" ? 3 : 1);
}

}  // namespace

std::string_view verb_of(std::string_view method, std::string_view target) {
  const auto mark = std::min(target.find('?'), target.size());
  if (method == "GET") {
    if (target.substr(mark).contains("watch=true")) return "watch";
    return is_collection(target.substr(0, mark)) ? "list" : "get";
  }
  if (method == "POST") return "create";
  if (method == "PUT") return "update";
  if (method == "PATCH") return "patch";
  return method == "DELETE" ? "delete" : "other";
}

std::string query_value(std::string_view value) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char byte : value) {
    const bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                          (byte >= '0' && byte <= '9') || byte == '-' || byte == '.' ||
                          byte == '_' || byte == '~';
    const auto number = static_cast<unsigned char>(byte);
    if (is_plain) {
      out += byte;
    } else {
      out += cat('%', kHex[number >> 4], kHex[number & 15]);
    }
  }
  return out;
}

Result<std::unique_ptr<Api>> Api::make(Config config, ApiSettings settings, Log log) {
  auto api = std::make_unique<Api>(std::move(settings), std::move(log));
  MNET_TRY_VOID(api->use(std::move(config)));
  return api;
}

Api::Api(ApiSettings settings, Log log)
    : settings_(std::move(settings)), log_(std::move(log)), gate_(settings_.requests_at_once) {}

Result<void> Api::use(Config config) {
  auto origin = http::parse_url(config.server);
  if (!origin) return std::move(origin).error().wrap("API server");
  MNET_TRY(auto&& proxy, proxy_for(config, *origin, settings_.environment));
  http::OriginSettings where{.origin = *std::move(origin)};
  where.tls_server_name = config.tls_server_name;
  where.proxy = std::move(proxy);
  where.idle_connections = std::max<std::size_t>(2, settings_.requests_at_once / 2);
  server_ = config.server;
  credentials_.emplace(std::move(config), credential_settings(settings_), log_);
  client_.emplace(std::move(where), nullptr);
  return {};
}

aio::Task<Access> Api::access() {
  if (!credentials_) co_return Error(Errc::kUnavailable, "the API server is not known yet");
  auto access = co_await credentials_->current();
  if (access && access->tls_number != tls_number_) {
    client_->set_tls(access->tls);
    tls_number_ = access->tls_number;
  }
  co_return access;
}

aio::Task<std::uint64_t> Api::identity() {
  // No program is run only to see whether anything has changed.
  if (credentials_ && credentials_->asks_plugin()) co_return tls_number_;
  MNET_CO_TRY(auto&& now, co_await access());
  co_return now.tls_number;
}

aio::Task<std::unique_ptr<http::ResponseStream>> Api::attempt(http::ClientRequest request,
                                                              aio::Deadline deadline) {
  MNET_CO_TRY(auto&& access, co_await this->access());
  for (auto& header : access.headers) request.headers.push_back(std::move(header));
  ++requests_;
  const std::string_view verb = verb_of(request.method, request.target);
  auto answer = co_await client_->open(std::move(request), deadline);
  ++counts_[{verb, answer ? (*answer)->status() : 0}];
  if (const auto sent = answer ? parse_date((*answer)->headers()) : std::nullopt) {
    clock_difference_ =
        *sent - std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  }
  co_return answer;
}

aio::Task<std::unique_ptr<http::ResponseStream>> Api::send(http::ClientRequest request,
                                                           aio::Deadline deadline) {
  request.headers.emplace_back("User-Agent", settings_.user_agent);
  request.headers.emplace_back("Accept", "application/json");
  auto answer = co_await attempt(request, deadline);
  const bool is_refused =
      answer ? (*answer)->status() == 401 : answer.error().code() == Errc::kDenied;
  if (!is_refused) co_return answer;
  auto changed = co_await credentials_->renew();
  if (!changed || !*changed) co_return answer;
  // What is left of the refusal would keep its connection busy.
  if (answer) answer->reset();
  co_return co_await attempt(std::move(request), deadline);
}

aio::Task<Reply> Api::exchange(http::ClientRequest request, std::size_t max_bytes,
                               aio::Deadline deadline) {
  MNET_CO_TRY(auto&& answer, co_await send(std::move(request), deadline));
  Reply reply{.status = answer->status()};
  reply.retry_after = parse_retry_after(answer->headers());
  if (!reply.ok()) max_bytes = std::min(max_bytes, kMostOfRefusal);
  MNET_CO_TRY(auto&& body, co_await http::read_whole(answer.get(), max_bytes, deadline));
  reply.body = std::move(body);
  if (!reply.ok() && !reply.retry_after) {
    reply.retry_after = parse_status(reply.status, reply.body).retry_after;
  }
  co_return reply;
}

aio::Task<Reply> Api::call(Call call, aio::Deadline deadline) {
  MNET_CO_TRY([[maybe_unused]] const auto& slot,
              co_await gate_.enter(call.priority, std::move(call.share), deadline));
  deadline = std::min(deadline, Clock::now() + call.time);
  http::ClientRequest request{.method = call.method, .target = std::move(call.path)};
  if (!call.body.empty()) request.headers.emplace_back("Content-Type", call.content_type);
  request.body = std::move(call.body);
  co_return co_await exchange(std::move(request), call.max_bytes, deadline);
}

aio::Task<Reply> Api::call_patiently(Call what, Retries retries) {
  Attempts made = attempts(retries);
  what.time = retries.per_call;
  for (;;) {
    auto reply = co_await call(what, made.end());
    const auto pause = made.pause_after(reply, timer().now());
    if (!pause) co_return reply;
    MNET_CO_TRY_VOID(co_await timer().sleep_for(*pause));
  }
}

Attempts Api::attempts(const Retries& retries) const {
  return {retries, settings_.random, timer().now()};
}

aio::Task<std::unique_ptr<http::ResponseStream>> Api::open(std::string path, aio::Deadline deadline,
                                                           http::Headers headers) {
  http::ClientRequest request{.method = "GET", .target = std::move(path)};
  request.headers = std::move(headers);
  co_return co_await send(std::move(request), deadline);
}

}  // namespace mnet::kube
