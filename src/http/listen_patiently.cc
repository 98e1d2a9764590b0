#include "http/listen_patiently.h"

#include <chrono>
#include <functional>

#include "aio/sleep.h"
#include "aio/task.h"
#include "base/backoff.h"
#include "base/error.h"
#include "base/try.h"
#include "http/http.h"
#include "sys/fd.h"

namespace mnet::http {

aio::Task<sys::UniqueFd> listen_patiently(ListenAddress address,
                                          std::function<void(const Error&)> complain,
                                          std::chrono::milliseconds pause) {
  Backoff backoff(pause, pause * 6 / 5, make_random(), {.least = 1, .most = 1.2});
  for (;;) {
    auto listener = listen_tcp(address.address, address.port);
    if (listener) co_return listener;
    complain(listener.error());
    MNET_CO_TRY_VOID(co_await aio::sleep_for(backoff.next()));
  }
}

}  // namespace mnet::http
