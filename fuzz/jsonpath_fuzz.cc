// Any bytes as a template, and what follows the first NUL as the object: a template is refused with
// an error, or can be applied to any object, with the same outcome each time.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "json/json.h"
#include "jsonpath/jsonpath.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t nul = input.find('\0');
  const auto path = mnet::jsonpath::JsonPath::parse(input.substr(0, nul));
  if (!path) {
    if (!path.error().text().starts_with("error parsing jsonpath ")) std::abort();
    return 0;
  }
  const std::string_view rest = nul == std::string_view::npos ? "" : input.substr(nul + 1);
  const mnet::json::Value object = mnet::json::parse(rest, 100).value_or(mnet::json::Object());
  const auto first = path->evaluate(object), second = path->evaluate(object);
  if (first.has_value() != second.has_value() || (first && *first != *second)) std::abort();
  return 0;
}
