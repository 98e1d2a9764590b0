// CNI error codes, and errors that carry one (01, 1.3).
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/result.h"
#include "json/json.h"

namespace mnet::cni {

enum class Code : std::uint16_t {
  kUnknown = 0,
  kIncompatibleVersion = 1,
  kUnsupportedField = 2,
  kUnknownContainer = 3,
  kInvalidEnvironment = 4,
  kIo = 5,
  kDecoding = 6,
  kInvalidConfig = 7,
  kInvalidNetns = 8,
  kTryAgainLater = 11,
  kNotAvailable = 50,
  kLimitedConnectivity = 51,
  kInternal = 999,
};

// An Error whose origin() is {code, msg, details}: the container runtime sees exactly that.
Error coded(Code code, std::string msg, std::string details = {});

// {"code":…,"msg":…,"details":…} without empty details. Never has `cniVersion` (01, 1.3).
json::Object to_json(const ErrorObject& error);

// The error object that the runtime gets for `error`: its origin() if it has one, else code 999
// with the whole text.
ErrorObject object_for_runtime(const Error& error);

// Reads an error object as plugins print it. Unknown keys are ignored; missing ones become 0 or
// empty. A wrong type or a negative code is an error.
Result<ErrorObject> parse_error_object(const json::Value& value);

}  // namespace mnet::cni
