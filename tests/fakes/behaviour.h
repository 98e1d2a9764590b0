// What fake-delegate is told to do in one call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/json.h"

namespace mnet::fakes {

struct Behaviour {
  std::optional<std::int64_t> first;  // only for the first n calls; later ones just succeed
  std::optional<json::Value> error;   // printed, exit status 1
  std::optional<json::Value> result;
  std::optional<std::string> out, err;  // text as it is, in place of a result
  std::int64_t out_bytes = 0, err_bytes = 0;
  std::optional<std::int64_t> exit;
  std::int64_t signal = 0;
  std::int64_t delay_ms = 0;
  std::string gate;
  bool hang = false;
  bool ignore_sigterm = false;
  std::int64_t allocate_mb = 0;
  bool ignore_stdin = false;
  bool answer_first = false;  // prints before it reads
  std::int64_t child_seconds = 0;
  std::string child_until;
  bool child_leaves_group = false;
  std::vector<std::string> versions;
};

struct Orders {
  std::string record;
  bool record_end = false;
  Behaviour behaviour;  // of the command at hand
};

// From `{"record": ..., "ADD": {...}, "*": {...}}`: the member of that command, else "*".
Result<Orders> read_orders(const json::Object& object, const std::string& command);

}  // namespace mnet::fakes
