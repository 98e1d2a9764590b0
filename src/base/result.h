// Result<T>: a value or an Error. Dropping one is a compiler warning, hence an error.
#pragma once

#include <expected>
#include <utility>

#include "base/error.h"

namespace mnet {

// std::expected with two differences: it is [[nodiscard]], and a default-constructed one holds an
// error (kBug), because Asio default-constructs what a spawned task yields.
template <typename T>
class [[nodiscard]] Result : public std::expected<T, Error> {
  using Base = std::expected<T, Error>;

 public:
  using Base::Base;
  Result() : Base(std::unexpect, Errc::kBug, "result was never set") {}
  Result(Error error)
      : Base(std::unexpect, std::move(error)) {
  }  // NOLINT(google-explicit-constructor): reads as `return error`
};

template <>
class [[nodiscard]] Result<void> : public std::expected<void, Error> {
  using Base = std::expected<void, Error>;

 public:
  Result() = default;  // success is the natural default for void
  Result(Error error)
      : Base(std::unexpect, std::move(error)) {
  }  // NOLINT(google-explicit-constructor): reads as `return error`
};

}  // namespace mnet
