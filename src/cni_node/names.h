// Names of plugins, configurations and manifests, lists of them, and what two lists differ in (04,
// 1.4, 1.5, 1.7). Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mnet::cni_node {

using Names = std::vector<std::string>;

bool contains(const Names& names, std::string_view name);

// `[A-Za-z0-9_][A-Za-z0-9._+@-]*`, at most 200 bytes: no path, nothing hidden, no option.
bool is_valid_name(std::string_view name);

// SHA-256 by name, of plugins that must be exactly these.
using Pins = std::map<std::string, std::string, std::less<>>;

// Separated by commas and white space; of several equal ones the first counts. Where pins are
// wanted, `<name>=sha256-<64 hexadecimal digits>` is one. The error is `Invalid name: <name>`.
Result<Names> parse_names(std::string_view text, Pins* pins = nullptr);

// Empty if there is none.
const std::string& pin_of(const Pins& pins, std::string_view name);

struct Lists {
  Names desired, current;
  Pins pins = {}, current_pins = {};
};
// `Desired[:Current]`.
enum class Pinning : bool { kRefused, kAllowed };
Result<Lists> parse_lists(std::string_view text, Pinning pinning = Pinning::kRefused);

struct Difference {
  Names added;    // in the order of the desired; also what has another pin
  Names removed;  // in the order of the current
};
Difference difference(const Lists& lists);

}  // namespace mnet::cni_node
