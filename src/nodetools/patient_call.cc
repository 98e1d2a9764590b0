#include "nodetools/patient_call.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "aio/sleep.h"
#include "aio/task.h"
#include "kube/kube.h"
#include "kube/reply.h"
#include "nodetools/pauses.h"

namespace mnet::nodetools {
namespace {

constexpr std::chrono::seconds kLongestRetryAfter{30};

}  // namespace

aio::Task<kube::Reply> patient_call(kube::Api* api, kube::Call call, Tries tries) {
  Pauses pauses(tries.first_pause, tries.longest_pause);
  for (int attempt = 1;; ++attempt) {
    auto reply = co_await api->call(call, std::chrono::steady_clock::now() + tries.call_time);
    const bool may_pass = kube::is_transient(reply) || (reply && reply->status == 409);
    if (!may_pass || attempt >= tries.most) co_return reply;
    auto pause = pauses.next();
    if (reply && reply->retry_after) pause = std::min(*reply->retry_after, kLongestRetryAfter);
    auto slept = co_await aio::sleep_for(pause);
    if (!slept) co_return std::move(slept).error();
  }
}

}  // namespace mnet::nodetools
