// The identity that the kubelet mounts into a pod: a folder with a token and a CA, exchanged as a
// whole by a swapped link.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace mnet::nodeconf {

inline constexpr std::string_view kServiceAccountFolder =
    "/var/run/secrets/kubernetes.io/serviceaccount";

struct ServiceAccount {
  std::string token;  // without white space around it
  std::string ca;     // PEM

  friend bool operator==(const ServiceAccount&, const ServiceAccount&) = default;
};

// As it is now. An error if a part is missing, empty or evidently incomplete: keep the
// previous one and read again later. Without `needs_ca` a missing CA is an empty one.
Result<ServiceAccount> read_service_account(const std::string& folder, bool needs_ca);

}  // namespace mnet::nodeconf
