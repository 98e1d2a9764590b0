#include "aio/program_output.h"

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/this_coro.hpp>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/cancel.h"
#include "aio/readable.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/fd.h"
#include "sys/spawn.h"

namespace mnet::aio {
namespace {

Task<std::string> read_to_end(sys::UniqueFd fd, std::size_t most) {
  const auto executor = co_await asio::this_coro::executor;
  asio::posix::stream_descriptor pipe(executor, fd.release());
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    auto [ended, count] = co_await pipe.async_read_some(asio::buffer(buffer), kAsValue);
    text.append(buffer.data(), count);
    if (ended == asio::error::eof) co_return text;
    if (ended == asio::error::operation_aborted) co_return cancelled_error();
    if (ended) co_return Error(Errc::kIo, cat("read: ", errno_text(ended.value())));
    if (text.size() > most) co_return Error(Errc::kProtocol, "too much output");
  }
}

}  // namespace

Task<ProgramOutput> run_program(sys::Program program, std::size_t most) {
  MNET_CO_TRY(auto&& child, sys::Child::spawn(program));
  child.take_stdin().reset();
  std::vector<Task<std::string>> reading;
  reading.push_back(read_to_end(child.take_stdout(), most));
  reading.push_back(read_to_end(child.take_stderr(), most));
  auto texts = co_await all(std::move(reading));
  if (!texts[0]) co_return std::move(texts[0]).error();

  const auto executor = co_await asio::this_coro::executor;
  Readable exit(executor, child.pidfd());
  MNET_CO_TRY_VOID(co_await exit.wait());
  co_return ProgramOutput{.out = *std::move(texts[0]),
                          .err = texts[1] ? *std::move(texts[1]) : std::string(),
                          .status = child.reap().value_or(sys::ExitStatus())};
}

}  // namespace mnet::aio
