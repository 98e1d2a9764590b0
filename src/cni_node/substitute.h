// Replaces references to environment variables in a text, exactly as GNU `envsubst` does (04, 1.9).
// Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mnet::cni_node {

using Variables = std::map<std::string, std::string, std::less<>>;

// `NAME=value` texts; the first of several equal names counts.
Variables variables_of(const std::vector<std::string>& environment);

struct Substituted {
  std::string text;
  std::vector<std::string> unset;  // names that have no value, each once; they became nothing
};

// `$NAME` and `${NAME}`; everything else stays, even names that are not among `allowed`.
Substituted substitute(std::string_view text, const Variables& variables,
                       const std::optional<std::set<std::string, std::less<>>>& allowed = {});

}  // namespace mnet::cni_node
