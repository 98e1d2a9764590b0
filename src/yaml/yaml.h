// Parses YAML documents into values of json, typed as kubectl types them: YAML 1.1 words for
// booleans and null; numbers, with their own text if JSON has that form; everything else is a
// string. A key is the text of its value (`n: 1` is `"false": 1`), and `<<` merges mappings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/json.h"

namespace mnet::yaml {

struct Document {
  json::Value value;
  int line = 1;    // where it begins, counted from 1
  int number = 1;  // its position in the text, empty documents included
};

struct Limits {
  std::size_t bytes = 16u << 20;
  std::size_t nodes = 1'000'000;     // of a document, after aliases are expanded
  std::size_t expanded = 10u << 20;  // bytes of all scalars of a document, likewise
  int depth = 200;
};

// All documents of the text, in order, without the empty ones (comments, a lone `---`). JSON is
// YAML, too. Errors name the place: `line 3, column 7: …`. Keys must be scalars. A key that occurs
// twice is an error (kConflict), as in kubectl's strict mode; so are infinity and not-a-number,
// which JSON lacks.
Result<std::vector<Document>> parse_documents(std::string_view text, Limits limits = {});

// The value in block style, ending in a newline; parse_documents() reads the same value from it.
std::string dump(const json::Value& value);

}  // namespace mnet::yaml
