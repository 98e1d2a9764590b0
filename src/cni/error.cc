#include "cni/error.h"

#include <cstdint>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/fields.h"
#include "json/json.h"

namespace mnet::cni {
namespace {

Errc errc_of(Code code) {
  switch (code) {
    case Code::kTryAgainLater:
    case Code::kNotAvailable:
    case Code::kLimitedConnectivity:
      return Errc::kUnavailable;
    case Code::kUnknown:
      return Errc::kPlugin;
    case Code::kIo:
      return Errc::kIo;
    case Code::kInternal:
      return Errc::kBug;
    default:
      return Errc::kInvalid;
  }
}

}  // namespace

Error coded(Code code, std::string msg, std::string details) {
  return Error::from_object(errc_of(code),
                            {static_cast<std::uint64_t>(code), std::move(msg), std::move(details)});
}

json::Object to_json(const ErrorObject& error) {
  json::Object object;
  object.append("code", json::Number::of_text(cat(error.code)));
  object.append("msg", error.msg);
  if (!error.details.empty()) object.append("details", error.details);
  return object;
}

ErrorObject object_for_runtime(const Error& error) {
  if (error.origin() != nullptr) return *error.origin();
  return {static_cast<std::uint64_t>(Code::kInternal), error.text(), {}};
}

Result<ErrorObject> parse_error_object(const json::Value& value) {
  ErrorObject error;
  if (value.is_null()) return error;
  const json::Object* object = value.as_object();
  if (object == nullptr) return json::wrong_kind("error object", "an object", value);
  json::Fields fields(*object);
  fields.read("code", error.code);
  fields.read("msg", error.msg);
  fields.read("details", error.details);
  MNET_TRY_VOID(fields.done());
  return error;
}

}  // namespace mnet::cni
