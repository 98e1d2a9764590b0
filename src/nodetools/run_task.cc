#include "nodetools/run_task.h"

#include <boost/asio/io_context.hpp>
#include <csignal>
#include <functional>

#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "nodetools/output.h"
#include "sys/signals.h"

namespace mnet::nodetools {

int run_task(Output& output, const std::function<aio::Task<int>(sys::Signals&)>& make_task) {
  auto signals = sys::Signals::take_over({SIGTERM, SIGINT});
  if (!signals) {
    output.complain("signals", signals.error().text());
    return 1;
  }
  boost::asio::io_context loop(1);
  const auto code = aio::run(loop, make_task(*signals));
  if (code) return *code;
  output.complain("error", code.error().text());
  return 1;
}

}  // namespace mnet::nodetools
