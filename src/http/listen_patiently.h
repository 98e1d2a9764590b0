// Listening on a TCP port that another program may still have.
#pragma once

#include <chrono>
#include <functional>

#include "aio/task.h"
#include "base/error.h"
#include "http/http.h"
#include "sys/fd.h"

namespace mnet::http {

// The socket, as soon as the address is free: tried again after `pause`, with some jitter, until
// then. `complain` is called for each try that fails. Only a cancellation is an error.
aio::Task<sys::UniqueFd> listen_patiently(
    ListenAddress address, std::function<void(const Error&)> complain,
    std::chrono::milliseconds pause = std::chrono::seconds(10));

}  // namespace mnet::http
