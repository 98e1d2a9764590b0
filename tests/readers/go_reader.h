// The Go program beside this one: how Go, and the original, read the same bytes.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/fd.h"

namespace mnet::readers {

// What a reader made of a text: its reading as JSON with sorted keys, or why it refused.
struct Reading {
  bool is_refused = false;
  bool repeats_key = false;  // in any letter case; Go only
  std::string text;
};

class GoReader {
 public:
  // Starts it; it ends when this object does.
  static Result<GoReader> start(const std::string& program);
  GoReader(GoReader&&) = default;
  ~GoReader();

  Result<Reading> read(char kind, std::string_view text);

 private:
  GoReader(pid_t pid, sys::UniqueFd requests, sys::UniqueFd answers);

  pid_t pid_;
  sys::UniqueFd requests_, answers_;
};

}  // namespace mnet::readers
