#include "certs/renewal.h"

#include <algorithm>
#include <chrono>

#include "certs/x509.h"

namespace mnet::certs {
namespace {

std::chrono::seconds part_of_life(const Pair& pair, double random) {
  const std::chrono::duration<double> life = pair.not_after - pair.not_before;
  return std::chrono::round<std::chrono::seconds>(life * (0.7 + 0.2 * random));
}

}  // namespace

Time renewal_point(const Pair& pair, double random) {
  return pair.not_before + part_of_life(pair, random);
}

bool is_skewed(const Pair& fresh, Time now) {
  return fresh.not_after <= now || fresh.not_before > now;
}

std::chrono::seconds renewal_age(const Pair& pair, double random) {
  return std::max<std::chrono::seconds>(std::chrono::seconds(0),
                                        part_of_life(pair, random) - kBackdated);
}

}  // namespace mnet::certs
