#include "kube/patient_call.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "aio/task.h"
#include "aio/timer.h"
#include "base/try.h"
#include "kube/kube.h"
#include "kube/pauses.h"
#include "kube/reply.h"

namespace mnet::kube {
namespace {

constexpr std::chrono::seconds kLongestRetryAfter{30};

}  // namespace

aio::Task<kube::Reply> patient_call(kube::Api* api, kube::Call call, Tries tries) {
  Pauses pauses(tries.first_pause, tries.longest_pause, tries.random);
  for (int attempt = 1;; ++attempt) {
    auto reply = co_await api->call(call, std::chrono::steady_clock::now() + tries.call_time);
    const bool may_pass = kube::is_transient(reply) || (reply && reply->status == 409);
    if (!may_pass || attempt >= tries.most) co_return reply;
    std::optional<std::chrono::seconds> asked;
    if (reply && reply->retry_after) asked = std::min(*reply->retry_after, kLongestRetryAfter);
    MNET_CO_TRY_VOID(co_await tries.timer->sleep_for(pauses.next(asked)));
  }
}

}  // namespace mnet::kube
