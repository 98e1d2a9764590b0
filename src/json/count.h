// How much a text would become if it were parsed, without building any of it: a value takes
// hundreds of bytes in the copies that are made of it, and two in its text. For texts that people
// without rights on the node write.
#pragma once

#include <cstddef>
#include <string_view>

namespace mnet::json {

struct Count {
  std::size_t elements = 0;  // of the outermost list, if the text is one
  std::size_t values = 0;    // at every depth; never less than there are
  std::size_t bytes = 0;     // of what dump() makes of it; never less. A `<` becomes six
  // Objects in lists that are members of the outermost object, as the plugins of a network are.
  std::size_t listed = 0;
};

// For a text that is not JSON: not less than parse() builds of it before it fails.
Count count(std::string_view text);

}  // namespace mnet::json
