// The coroutine type of the whole program: a task yields a Result and never throws.
//
// A task begins to run when it is awaited, or when something starts it: aio::Group (aio/group.h);
// aio::run and aio::run_until_signal in tests and programs; with_deadline, all and shielded for
// their own tasks. Production code starts coroutines only through these, because they turn off
// Asio's habit of throwing from every co_await after a cancel (aio/root.h).
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

// Parameters of a task are values that own their data (docs/pitfalls.md). Write one co_await per
// statement.
template <typename T>
using Task = asio::awaitable<Result<T>>;

// Each request has one deadline, which all layers pass down.
using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kNoDeadline = Deadline::max();

// I/O that yields (error_code, value) instead of throwing: `auto [ec, n] = co_await
// s.async_read_some(b, kAsValue);`
inline constexpr auto kAsValue = asio::as_tuple(asio::use_awaitable);

}  // namespace mnet::aio
