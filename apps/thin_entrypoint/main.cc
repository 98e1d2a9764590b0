// thin_entrypoint: installs and keeps the thin multus of a node (03, 9.2).

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "aio/task.h"
#include "aio/until_signal.h"
#include "base/command_line.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/version.h"
#include "nodeconf/thin_entrypoint.h"
#include "nodeconf/thin_options.h"
#include "sys/environment.h"

namespace {

void write_line(int fd, std::string_view text) {
  const std::string line = mnet::cat(text, "\n");
  (void)!::write(fd, line.data(), line.size());
}

int failed(const mnet::Error& error) {
  write_line(STDERR_FILENO, error.text());
  return 1;
}

// In one task, so that a signal is heard from the beginning: whoever takes the last line of the
// installation for a sign to end it must not meet the default action.
mnet::aio::Task<void> live(mnet::nodeconf::ThinEntrypoint* entrypoint, bool* is_set_up) {
  if (auto done = entrypoint->set_up(); !done) co_return std::move(done).error();
  *is_set_up = true;
  auto followed = co_await entrypoint->follow();
  co_return std::move(followed);
}

int install(mnet::nodeconf::ThinOptions options) {
  mnet::nodeconf::ThinSurroundings around;
  around.environment = mnet::sys::environment();
  around.tell = [](std::string_view line) { write_line(STDOUT_FILENO, line); };
  around.complain = [](std::string_view line) { write_line(STDERR_FILENO, line); };
  mnet::nodeconf::ThinEntrypoint entrypoint(std::move(options), std::move(around));

  boost::asio::io_context loop(1);
  bool is_set_up = false;
  const auto followed = mnet::aio::run_until_signal(loop, live(&entrypoint, &is_set_up));
  if (!is_set_up) return followed ? 0 : failed(followed.error());
  const auto cleaned = entrypoint.clean_up();
  if (!followed) return failed(followed.error());
  return cleaned ? 0 : failed(cleaned.error());
}

}  // namespace

int main(int argc, char** argv) {
  auto options = mnet::nodeconf::parse_thin_options(mnet::words_of(argc, argv));
  if (!options) {
    write_line(STDERR_FILENO,
               mnet::cat(options.error().text(), "\n", mnet::nodeconf::thin_usage()));
    return 2;
  }
  if (options->wants_help) {
    write_line(STDERR_FILENO, mnet::nodeconf::thin_usage());
    return 1;
  }
  if (options->wants_version) {
    write_line(STDOUT_FILENO, mnet::version_line("thin_entrypoint"));
    return 0;
  }
  return install(*std::move(options));
}
