// Finds what was probably meant by a word that is not known.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace mnet::lint {

// Letters to insert, remove, replace or swap with their neighbours to get from one to the other.
// Letter case does not count. Only for short words: costs the product of their lengths.
std::size_t distance(std::string_view a, std::string_view b);

// The known word that is nearest; empty if none is near enough to be meant: one mistake in a word
// of up to five letters, two in a longer one.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

// `, did you mean "bridge"?`; empty if nothing is near.
std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace mnet::lint
