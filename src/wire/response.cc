#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/error.h"
#include "cni/result.h"
#include "cni/version.h"
#include "json/json.h"
#include "wire/wire.h"

namespace mnet::wire {
namespace {

constexpr std::string_view kNothingSaid = "unknown delegate error";

// What stands in `details` anyway is not said twice.
std::string text_without_details(const Error& error) {
  std::string_view text = error.text();
  const std::string tail = cat("; ", error.origin()->details);
  if (!error.origin()->details.empty() && text.ends_with(tail)) text.remove_suffix(tail.size());
  if (text.empty() || text.ends_with(": ")) return cat(text, kNothingSaid);
  return std::string(text);
}

std::string one_line(std::string_view text) {
  std::string out(text.empty() ? kNothingSaid : text);
  for (char& c : out) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return out;
}

Result<std::optional<cni::NetResult>> read_response(std::string_view body) {
  MNET_TRY(auto&& document, json::parse(body));
  if (document.is_null()) return std::optional<cni::NetResult>();
  const json::Object* object = document.as_object();
  if (object == nullptr)
    return Error(Errc::kProtocol, cat("expected an object, got ", document.kind()));
  const json::Value* result = object->find_folded("Result");
  if (result == nullptr || result->is_null()) return std::optional<cni::NetResult>();

  json::Value labelled = *result;
  json::Object* members = labelled.as_object();
  if (members != nullptr && members->find_folded("cniVersion") == nullptr) {
    members->set("cniVersion", cni::kCurrentVersion);  // what travels here is always of this one
  }
  MNET_TRY(auto&& read, cni::read_result(labelled));
  return std::optional<cni::NetResult>(std::move(read));
}

// An object with a msg that says something.
std::optional<ErrorObject> find_error_object(std::string_view body) {
  const auto document = json::parse(body);
  if (!document || document->as_object() == nullptr) return std::nullopt;
  auto object = cni::parse_error_object(*document);
  if (!object || object->msg.empty()) return std::nullopt;
  return *std::move(object);
}

}  // namespace

Result<std::string> response_body(const cni::NetResult& result) {
  auto converted = cni::convert(result, cni::kCurrentVersion);
  if (!converted) {
    return std::move(converted).error().wrap("failed to generate the CNI result");
  }
  return json::dump(json::Object{{"Result", cni::to_json(*converted)}}, json::kSorted);
}

Result<std::optional<cni::NetResult>> parse_response(std::string_view body) {
  if (trim(body).empty()) return std::optional<cni::NetResult>();
  auto result = read_response(body);
  if (!result) {
    return std::move(result).error().wrap(cat("failed to unmarshal response '", body, "'"));
  }
  return result;
}

ErrorBody error_body(const Error& error) {
  const ErrorObject* origin = error.origin();
  if (origin == nullptr) {
    return {"text/plain; charset=utf-8", cat(one_line(error.text()), '\n')};
  }
  const ErrorObject sent{origin->code, text_without_details(error), origin->details};
  return {"application/json", json::dump(cni::to_json(sent))};
}

Error parse_error(int status, std::string_view body) {
  if (auto object = find_error_object(body)) {
    return Error::from_object(Errc::kPlugin, *std::move(object));
  }
  return Error(Errc::kProtocol, cat("CNI request failed with status ", status, ": '", body, "'"));
}

}  // namespace mnet::wire
