// YAML documents as the values of json, typed as kubectl types them: YAML 1.1 words for booleans
// and null, numbers with their text where JSON knows the form, everything else a string; keys have
// the text of their value (`n: 1` is `"false": 1`), `<<` merges.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/json.h"

namespace mnet::yaml {

struct Document {
  json::Value value;
  int line = 1;    // where it begins, counted from 1
  int number = 1;  // among all of the text, empty ones included
};

struct Limits {
  std::size_t bytes = 16u << 20;
  std::size_t nodes = 1'000'000;     // after aliases are expanded: a small file can name a huge one
  std::size_t expanded = 10u << 20;  // bytes of all scalars of a document, likewise
  int depth = 200;
};

// Every document of the text, in order; empty ones (comments, a lone `---`) are left out. JSON is
// YAML, too. An error says where: `line 3, column 7: …`. Keys must be scalars; a key that occurs
// twice is an error (kConflict), as kubectl's strict reading has it; so are infinity and
// not-a-number, which JSON does not have.
Result<std::vector<Document>> parse_documents(std::string_view text, Limits limits = {});

}  // namespace mnet::yaml
