// When a certificate is replaced. Pure arithmetic.
#pragma once

#include <chrono>

#include "certs/x509.h"

namespace mnet::certs {

// At a point between 70 and 90 % of its life (03, 8.1); `random` is from 0 to 1.
Time renewal_point(const Pair& pair, double random);

// Signers date certificates back by this, so that clocks may differ a little.
inline constexpr std::chrono::minutes kBackdated{5};

// Whether a certificate that was just issued looks expired, or not valid yet: the clocks of this
// node and of the signer differ by more than signers allow for.
bool is_skewed(const Pair& fresh, Time now);

// How long after its issue a certificate is renewed when this node's clock cannot tell.
std::chrono::seconds renewal_age(const Pair& pair, double random);

}  // namespace mnet::certs
