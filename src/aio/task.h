// The coroutine type of the whole program: a task yields a Result and never throws.
//
// A task begins to run when it is awaited, or when an owner starts it: aio::Group (aio/group.h), or
// aio::run (aio/run.h) in tests and small programs. Only these start coroutines: they turn off
// Asio's habit of throwing out of every co_await behind a cancellation.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

#include "base/result.h"

namespace mnet::aio {

namespace asio = boost::asio;

// Parameters of a task are values that own their data; one co_await per statement
// (docs/architecture.md).
template <typename T>
using Task = asio::awaitable<Result<T>>;

// One per request, handed down through all layers; no layer invents a fresh one.
using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

// I/O that yields (error_code, value) instead of throwing: `auto [ec, n] = co_await
// s.async_read_some(b, kAsValue);`
inline constexpr auto kAsValue = asio::as_tuple(asio::use_awaitable);

}  // namespace mnet::aio
