// Which requests for a node's certificate are granted (03, 8.2). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "certs/signing_request.h"
#include "certs/x509.h"

namespace mnet::certs {

inline constexpr std::string_view kGroup = "system:multus";
inline constexpr std::string_view kUserPrefix = "system:multus:";

// What the certificate of a node says.
Subject subject_of_node(std::string_view node);

struct Verdict {
  enum class Decision : std::uint8_t { kIgnore, kApprove, kDeny } decision = Decision::kIgnore;
  std::string message = {};  // of the condition; of kIgnore: why, for people
  // With kIgnore: it names our signer, but cannot be read well enough to judge. Worth a log line.
  bool is_unreadable = false;
};

// kIgnore: not ours, or decided already.
Verdict judge(const SigningRequest& request);

}  // namespace mnet::certs
