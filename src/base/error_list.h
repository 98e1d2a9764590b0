// ErrorList: the errors of work that continues to its end in spite of them (DEL, rollback,
// shutdown).
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
  // Keeps the error of a failed result; a success adds nothing.
  void add(Result<void> result) {
    if (!result) errors_.push_back(std::move(result).error());
  }

  bool empty() const { return errors_.empty(); }
  std::size_t size() const { return errors_.size(); }
  const std::vector<Error>& errors() const { return errors_; }

  // One error with all texts joined by `separator`; success if the list is empty. Code, errno and
  // error object come from the first error that has an error object, else from the first error.
  Result<void> join(std::string_view separator) const;

 private:
  std::vector<Error> errors_;
};

}  // namespace mnet
