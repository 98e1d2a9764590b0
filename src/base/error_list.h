// ErrorList: what went wrong in work that goes on to the end regardless (DEL, rollback, shutdown).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"

namespace mnet {

class ErrorList {
 public:
  void add(Error error) { errors_.push_back(std::move(error)); }
  // Keeps the error of a failed result; a good one adds nothing.
  void add(Result<void> result) {
    if (!result) errors_.push_back(std::move(result).error());
  }

  bool empty() const { return errors_.empty(); }
  std::size_t size() const { return errors_.size(); }
  const std::vector<Error>& errors() const { return errors_; }

  // One error with all texts joined by `separator`: the code, the errno and the error object are
  // those of the first error that has an error object, else of the first. Success if there is none.
  Result<void> join(std::string_view separator) const;

 private:
  std::vector<Error> errors_;
};

}  // namespace mnet
