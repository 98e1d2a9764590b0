// One request of the API, repeated where that may help (04, 1.10, "Retry").
#pragma once

#include <chrono>

#include "aio/task.h"
#include "aio/timer.h"
#include "kube/api.h"
#include "kube/backoff.h"

namespace mnet::kube {

struct Tries {
  using Time = std::chrono::milliseconds;
  int most = 5;
  Time call_time{30'000};
  Time first_pause{500}, longest_pause{4000};
  kube::Random random = kube::make_random();
  aio::Timer* timer = &aio::Timer::steady();
};

// No connection, time-outs, 409, 429 and 5xx are tried again, after what Retry-After says (30 s at
// most) or a pause, whichever is longer; ends with the last answer or error. `api` must outlive the
// task.
aio::Task<kube::Reply> patient_call(kube::Api* api, kube::Call call, Tries tries);

}  // namespace mnet::kube
