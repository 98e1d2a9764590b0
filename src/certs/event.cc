#include "certs/event.h"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "aio/task.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "kube/event.h"
#include "kube/gate.h"
#include "kube/kube.h"
#include "kube/retries.h"

namespace mnet::certs {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostOfMessage = 1000;  // the server takes 1024 bytes
constexpr kube::Retries kPatience{
    .per_call = 5s, .first_pause = 1s, .longest_pause = 10s, .total = 15s};

kube::Event event_of(Happening what) {
  return {.ns = "default",
          .involved = json::Object{{"kind", std::move(what.kind)},
                                   {"apiVersion", std::move(what.api_version)},
                                   {"name", std::move(what.name)},
                                   {"uid", std::move(what.uid)}},
          .is_warning = what.is_warning,
          .reason = std::move(what.reason),
          .message = excerpt(what.message, kMostOfMessage),
          .component = std::move(what.component)};
}

}  // namespace

aio::Task<void> post_event(std::shared_ptr<kube::Api> api, Happening what) {
  const auto now = WallClock::system().now();
  std::string name = kube::event_name(what.name, now);
  const json::Object object = kube::event_object(event_of(std::move(what)), std::move(name), now);
  kube::Call call{.method = "POST",
                  .path = "/api/v1/namespaces/default/events",
                  .body = json::dump(object),
                  .priority = kube::Priority::kBackground};
  MNET_CO_TRY(auto&& reply, co_await api->call_patiently(std::move(call), kPatience));
  // 409: an earlier try got through although its answer did not.
  if (!reply.ok() && reply.status != 409) co_return reply.error();
  co_return Result<void>();
}

}  // namespace mnet::certs
