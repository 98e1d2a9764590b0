// Where the values of a YAML text stand, for messages that point at a line. JSON is YAML, too.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "yaml/yaml.h"

namespace mnet::yaml {

// Counted in bytes; line and column from 1.
struct Mark {
  int line = 1, column = 1;
  std::size_t offset = 0;
};

struct Place {
  Mark value;
  Mark key;  // of a member; of other values the same as `value`
};

// By JSON pointer (RFC 6901), `/spec/config`; the document itself is "". What an alias stands for,
// or
// `<<` merges, has no places of its own.
using Places = std::map<std::string, Place, std::less<>>;

// `/key`, with `~` and `/` escaped: one step of a pointer.
std::string pointer_step(std::string_view key);

// The place of a value or, if it has none, of the nearest value around it.
Place place_of(const Places& places, std::string_view pointer);

// For each document that parse_documents() yields, in the same order. To be called for a text that
// parse_documents() accepts: it has checked the limits.
Result<std::vector<Places>> find_places(std::string_view text);

}  // namespace mnet::yaml
