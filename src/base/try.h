// Passing an error on unchanged takes one line:
//
//   MNET_TRY(const Config& config, load_config(path));           returns the error
//   MNET_TRY_VOID(check(config));                                the same for a Result<void>
//   MNET_CO_TRY(auto&& pod, co_await source.find_pod(lookup));   co_returns it
//   MNET_CO_TRY_VOID(co_await status.write(pod));
//
// The first argument is a declaration, the rest is an expression that yields a Result; it may hold
// commas. What adds context, logs or branches is written out.
//
// The result stays alive, under a hidden name, until the block ends. A reference refers into it and
// costs nothing: use `auto&&` if the value is changed or moved on, `const auto&` otherwise. A
// declaration of a value (`const int port`) moves the value out. Use it for small values only: in a
// coroutine both the value and the result that it was moved from take room in the frame.
//
// MNET_TRY and MNET_CO_TRY expand to several statements: they stand in a block, one to a line, and
// never inside an argument of each other. MNET_TRY_VOID and MNET_CO_TRY_VOID take a Result<void>
// only: they never drop a value, which may be a lock.
#pragma once

#include <utility>

#include "base/result.h"  // IWYU pragma: keep

#define MNET_TRY(declaration, ...) \
  MNET_INTERNAL_TRY(return, MNET_INTERNAL_TRY_NAME(__LINE__), declaration, __VA_ARGS__)
#define MNET_CO_TRY(declaration, ...) \
  MNET_INTERNAL_TRY(co_return, MNET_INTERNAL_TRY_NAME(__LINE__), declaration, __VA_ARGS__)

#define MNET_TRY_VOID(...) MNET_INTERNAL_TRY_VOID(return, __VA_ARGS__)
#define MNET_CO_TRY_VOID(...) MNET_INTERNAL_TRY_VOID(co_return, __VA_ARGS__)

#define MNET_INTERNAL_TRY(leave, result, declaration, ...) \
  auto result = __VA_ARGS__;                               \
  if (!result) leave std::move(result).error();            \
  declaration = *std::move(result)

#define MNET_INTERNAL_TRY_VOID(leave, ...)                              \
  if (::mnet::Result<void> mnet_try_void = __VA_ARGS__; !mnet_try_void) \
  leave std::move(mnet_try_void).error()

#define MNET_INTERNAL_TRY_NAME(line) MNET_INTERNAL_TRY_JOIN(mnet_try_, line)
#define MNET_INTERNAL_TRY_JOIN(a, b) a##b
