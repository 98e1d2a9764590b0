#include "certs/event.h"

#include <array>
#include <charconv>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "aio/task.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "kube/gate.h"
#include "kube/kube.h"
#include "kube/retries.h"

namespace mnet::certs {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMostOfMessage = 1000;  // the server takes 1024 bytes
constexpr kube::Retries kPatience{
    .per_call = 5s, .first_pause = 1s, .longest_pause = 10s, .total = 15s};

std::string new_name(const std::string& of) {
  const auto since = std::chrono::nanoseconds(WallClock::system().now().time_since_epoch()).count();
  std::array<char, 20> digits{};
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), since, 16).ptr;
  return cat(of, ".", std::string_view(digits.data(), end));
}

json::Object object_of(const Happening& what) {
  const std::string now = rfc3339_utc(WallClock::system().now());
  return json::Object{
      {"kind", "Event"},
      {"apiVersion", "v1"},
      {"metadata", json::Object{{"name", new_name(what.name)}, {"namespace", "default"}}},
      {"involvedObject", json::Object{{"kind", what.kind},
                                      {"apiVersion", what.api_version},
                                      {"name", what.name},
                                      {"uid", what.uid}}},
      {"reason", what.reason},
      {"message", excerpt(what.message, kMostOfMessage)},
      {"type", what.is_warning ? "Warning" : "Normal"},
      {"source", json::Object{{"component", what.component}}},
      {"reportingComponent", what.component},
      {"firstTimestamp", now},
      {"lastTimestamp", now},
      {"count", 1}};
}

}  // namespace

aio::Task<void> post_event(std::shared_ptr<kube::Api> api, Happening what) {
  kube::Call call{.method = "POST",
                  .path = "/api/v1/namespaces/default/events",
                  .body = json::dump(object_of(what)),
                  .priority = kube::Priority::kBackground};
  MNET_CO_TRY(auto&& reply, co_await api->call_patiently(std::move(call), kPatience));
  // 409: an earlier try got through although its answer did not.
  if (!reply.ok() && reply.status != 409) co_return reply.error();
  co_return Result<void>();
}

}  // namespace mnet::certs
