// Any bytes as a file of the result cache: refused, or read into an entry that is the same after
// writing and reading. Route edits leave no default route behind, and touch nothing when they fail.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "json/json.h"
#include "store/cache_entry.h"
#include "store/store.h"

namespace {

using mnet::json::Object;
using mnet::json::Value;

void check_entry(const Value& document) {
  const auto decoded = mnet::store::parse_entry(document);
  if (!decoded) return;
  const std::string text = mnet::store::entry_text(decoded->entry);
  const auto again = mnet::store::parse_entry(mnet::json::parse(text).value());
  if (!again || mnet::store::entry_text(again->entry) != text) std::abort();
}

void check_routes(const Object& file) {
  Object edited = file;
  if (!mnet::store::delete_default_routes(edited, {.v4 = true, .v6 = true})) {
    if (Value(edited) != Value(file)) std::abort();
    return;
  }
  Object twice = edited;
  if (!mnet::store::delete_default_routes(twice, {.v4 = true, .v6 = true})) std::abort();
  if (Value(twice) != Value(edited)) std::abort();
  if (!mnet::store::add_default_routes(edited, {"10.0.0.1", "fd00::1"})) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)mnet::store::result_in(std::string(text));
  const auto document = mnet::json::parse(text);
  if (!document) return 0;
  check_entry(*document);
  if (const Object* file = document->as_object()) check_routes(*file);
  return 0;
}
