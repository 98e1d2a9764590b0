#include "certs/request_certificate.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "aio/cancel.h"
#include "aio/group.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "certs/signing_request.h"
#include "certs/x509.h"
#include "json/json.h"
#include "kube/kube.h"
#include "kube/store.h"

namespace mnet::certs {
namespace {

using Clock = std::chrono::steady_clock;

// One object, as it is on the server.
class Watching {
 public:
  Watching(const aio::asio::any_io_executor& executor, std::shared_ptr<kube::Api> api, Asked asked,
           kube::ReflectorSettings settings, const Log& log)
      : api_(std::move(api)),
        asked_(std::move(asked)),
        reflector_(*api_, settings_for(std::move(settings), asked_.name), store_, log),
        group_(executor, log) {}

  void start() { group_.spawn(cat("request ", asked_.name), reflector_.run()); }

  aio::Task<void> stop() {
    group_.cancel();
    co_return co_await group_.join();
  }

  aio::Task<void> wait_changed(aio::Deadline deadline) { return store_.wait_changed(deadline); }

  // The pair; none: not yet; an error: never.
  Result<std::optional<Pair>> look() const {
    if (!reflector_.is_synced()) return std::optional<Pair>();
    const auto request = store_.find("", asked_.name);
    if (!request) return ended("was deleted");
    if (request->uid != asked_.uid) return ended("was replaced by another");
    if (const auto* denied = request->condition("Denied")) {
      return ended(cat("was denied: ", denied->message), Errc::kDenied);
    }
    if (const auto* failed = request->condition("Failed")) {
      return ended(cat("failed: ", failed->message), Errc::kDenied);
    }
    if (request->condition("Approved") == nullptr || request->certificate.empty()) {
      return std::optional<Pair>();
    }
    auto pair = parse_pair(request->certificate + asked_.key);
    if (!pair) return std::move(pair).error().wrap(cat("the certificate of ", asked_.name));
    return std::optional<Pair>(*std::move(pair));
  }

  std::string awaited() const {
    if (!reflector_.is_synced()) return cat("the request ", asked_.name, " to be readable");
    const auto request = store_.find("", asked_.name);
    const bool is_approved = request && request->condition("Approved") != nullptr;
    return cat("the request ", asked_.name, " to be ",
               is_approved ? std::string("signed (by kube-controller-manager)")
                           : cat("approved (by cert-approver, or `kubectl certificate approve ",
                                 asked_.name, "`)"));
  }

 private:
  static kube::ReflectorSettings settings_for(kube::ReflectorSettings settings,
                                              const std::string& name) {
    settings.path = kRequestsPath;
    settings.field_selector = cat("metadata.name=", name);
    return settings;
  }
  Error ended(const std::string& how, Errc code = Errc::kUnavailable) const {
    return Error(code, cat("the request ", asked_.name, " ", how));
  }

  std::shared_ptr<kube::Api> api_;
  Asked asked_;
  kube::Store<SigningRequest> store_{
      [](const json::Object& object, std::size_t) { return parse_signing_request(object); }};
  kube::Reflector reflector_;
  aio::Group group_;
};

aio::Task<Pair> follow(std::shared_ptr<Watching> watching, WaitSettings settings,
                       std::function<bool(const std::string&)> on_wait) {
  const aio::Deadline end = Clock::now() + settings.patience;
  aio::Deadline report = Clock::now() + settings.report;
  for (;;) {
    MNET_CO_TRY(auto&& pair, watching->look());
    if (pair) co_return *std::move(pair);
    auto changed = co_await watching->wait_changed(std::min(end, report));
    if (changed) continue;
    if (changed.error().code() != Errc::kTimeout) co_return std::move(changed).error();
    const std::string awaited = watching->awaited();
    if (Clock::now() >= end)
      co_return Error(Errc::kTimeout, cat("timed out waiting for ", awaited));
    report = Clock::now() + settings.report;
    if (!on_wait(awaited))
      co_return Error(Errc::kUnavailable, cat("gave up waiting for ", awaited));
  }
}

}  // namespace

aio::Task<Asked> create_request(std::shared_ptr<kube::Api> api, Subject subject,
                                std::chrono::seconds duration, aio::Deadline deadline) {
  MNET_CO_TRY(auto&& made, make_request(subject));
  kube::Call call{.method = "POST", .path = std::string(kRequestsPath)};
  call.body = json::dump(signing_request_object(made.request, duration.count()));
  MNET_CO_TRY(auto&& reply, co_await api->call(std::move(call), deadline));
  if (!reply.ok()) co_return reply.error();
  auto object = json::parse_object(reply.body);
  if (!object) co_return Error(Errc::kProtocol, object.error().text());
  auto request = parse_signing_request(*object);
  if (!request) co_return Error(Errc::kProtocol, request.error().text());
  co_return Asked{.name = request->meta.name, .uid = request->uid, .key = std::move(made.key)};
}

aio::Task<Pair> wait_issued(std::shared_ptr<kube::Api> api, Asked asked, WaitSettings settings,
                            std::function<bool(const std::string&)> on_wait, Log log) {
  const auto executor = co_await aio::asio::this_coro::executor;
  auto watching =
      std::make_shared<Watching>(executor, std::move(api), std::move(asked), settings.watch, log);
  watching->start();
  auto pair = co_await follow(watching, std::move(settings), std::move(on_wait));
  (void)co_await aio::shielded(watching->stop());
  co_return pair;
}

}  // namespace mnet::certs
