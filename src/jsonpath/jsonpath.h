// Templates that pick text out of an object, in the language of `kubectl -o jsonpath` (04, 2.4).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "json/json.h"

namespace mnet::jsonpath {

struct Template;

// A template that was understood. Copies share it.
class JsonPath {
 public:
  // All that can be wrong with a template is found here: `error parsing jsonpath T, <reason>`. An
  // empty one is the whole object; one without any `{` is an error, for it would never change.
  static Result<JsonPath> parse(std::string_view text);

  // What is not there yields nothing. Errors are those of an object that does not fit: an index out
  // of bounds, a comparison of things that cannot be compared.
  Result<std::string> evaluate(const json::Value& object) const;

 private:
  explicit JsonPath(std::shared_ptr<const Template> parts) : template_(std::move(parts)) {}

  std::shared_ptr<const Template> template_;
};

// A value as templates show it: texts raw, objects and lists as compact JSON with sorted keys,
// numbers as Go prints them.
std::string jsonpath_text(const json::Value& value);

}  // namespace mnet::jsonpath
