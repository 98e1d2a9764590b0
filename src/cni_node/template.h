// Templates of CNI configurations: `__NAME__` stands for the content of a file (04, 1.8). Pure:
// what the files hold is asked of the caller.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mnet::cni_node {

// The files that a template points to, each once, in order of appearance.
std::vector<std::string> pointers_in(std::string_view text);

// Puts `content(name)` in the place of each pointer: of a line that is nothing else, of the whole
// line; inside a line, where the name ends in .conf, .conflist or .json, of the pointer alone. What
// is inserted is not looked at again. A NUL is an error; a last line gets its newline. The first
// error of `content` is the result's.
using ContentOf = std::function<Result<std::string>(const std::string& name)>;
Result<std::string> expand_pointers(std::string_view text, const ContentOf& content);

// Whether the name has one of the endings that CNI loaders take: .conf, .conflist, .json.
bool has_cni_suffix(std::string_view name);

// Whether a configuration's type, or that of its first plugin, is multus' in one of its forms. What
// is not a JSON object is none.
bool is_multus(std::string_view config);

}  // namespace mnet::cni_node
