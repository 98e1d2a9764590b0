// Inputs on which two readers may disagree: variations of good ones, the same for the same number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace mnet::readers {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : engine_() % limit; }
  bool one_in(std::size_t count) { return below(count) == 0; }
  template <typename List>
  const auto& pick(const List& list) {
    return list[below(list.size())];
  }

 private:
  std::mt19937_64 engine_;
};

// A text of JSON, or a list with commas, with a few members repeated, keys spelled otherwise,
// values replaced, escapes and bytes put in.
std::string varied_text(std::string text, Chance& chance);

// A certificate request of `system:multus:node1` in which one or two parts are not the usual ones,
// signed after that with the key it is for.
std::string varied_request(Chance& chance);

// Chains of certificates and bundles of authorities with one thing each that is unusual; all are
// made now, because certificates expire.
std::vector<std::string> plain_chains();
// With two or three of these things.
std::string varied_chain(Chance& chance);

}  // namespace mnet::readers
