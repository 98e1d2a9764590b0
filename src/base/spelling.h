// Finds the known word that a misspelt one was probably meant to be.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace mnet {

// How many letters to insert, remove, replace or swap with a neighbour to turn one word into the
// other, ignoring case. For short words only: the cost is the product of their lengths.
std::size_t spelling_distance(std::string_view a, std::string_view b);

// The nearest known word; empty if none is near enough: one mistake in a word of up to five
// letters, two in a longer one.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

// `, did you mean "bridge"?`; empty if nothing is near.
std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace mnet
