#include "thin_entrypoint/program.h"

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "aio/until_signal.h"
#include "base/error.h"
#include "base/pflags.h"
#include "base/try.h"
#include "sys/answer_flags.h"
#include "sys/environment.h"
#include "sys/write_all.h"
#include "thin_entrypoint/entrypoint.h"
#include "thin_entrypoint/options.h"

namespace mnet::thin_entrypoint {
namespace {

int failed(const Error& error) {
  sys::print(STDERR_FILENO, error.text());
  return 1;
}

// All in one task, so that signals are handled from the beginning: a caller that sends one as soon
// as it reads the last line of the installation must not meet the default action.
aio::Task<void> live(Entrypoint* entrypoint, bool* is_set_up) {
  MNET_CO_TRY_VOID(entrypoint->set_up());
  *is_set_up = true;
  co_return co_await entrypoint->follow();
}

int install(Options options) {
  Surroundings around;
  around.environment = sys::environment();
  around.tell = [](std::string_view line) { sys::print(STDOUT_FILENO, line); };
  around.complain = [](std::string_view line) { sys::print(STDERR_FILENO, line); };
  Entrypoint entrypoint(std::move(options), std::move(around));

  boost::asio::io_context loop(1);
  bool is_set_up = false;
  const auto followed = aio::run_until_signal(loop, live(&entrypoint, &is_set_up));
  if (!is_set_up) return followed ? 0 : failed(followed.error());
  const auto cleaned = entrypoint.clean_up();
  if (!followed) return failed(followed.error());
  return cleaned ? 0 : failed(cleaned.error());
}

}  // namespace

int run_program(const std::vector<std::string>& words) {
  Options options;
  PFlags flags = make_flags(options);
  const auto status = sys::answer_flags(flags, options.wants_version, "thin_entrypoint", words);
  return status ? *status : install(std::move(options));
}

}  // namespace mnet::thin_entrypoint
