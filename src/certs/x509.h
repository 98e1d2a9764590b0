// Keys, certificates and requests for them, in PEM. OpenSSL stays inside; nothing here reads files
// or knows Kubernetes.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mnet::certs {

using Time = std::chrono::system_clock::time_point;

struct Subject {
  std::string common_name = {};  // the last one, as Go has it
  std::vector<std::string> organizations = {};

  friend bool operator==(const Subject&, const Subject&) = default;
};

// A request (PKCS#10) as far as a judge must know it.
struct Request {
  Subject subject = {};
  // Attributes of the subject beside one CN and the Os, by name: `OU`, `CN` for a second one.
  std::vector<std::string> further_attributes = {};
  bool wants_alt_names = false;
  bool wants_extensions = false;  // any, alternative names included
  std::string key_type = {};      // `EC prime256v1`, `RSA 2048`
  bool is_signed = false;         // by the key that it is for
};
inline constexpr std::string_view kOurKeyType = "EC prime256v1";

// Exactly one PEM block of type `CERTIFICATE REQUEST` as an encoder writes it, DER inside: nothing
// before or after it, no headers, lines of 64 characters, each with a line feed. kInvalid, and
// why, for all else: another program could read another request in it (03, 8.2).
Result<Request> parse_request(std::string_view pem);

struct KeyAndRequest {
  std::string key = {};      // PEM `EC PRIVATE KEY`
  std::string request = {};  // PEM `CERTIFICATE REQUEST`
};
// A new key on P-256, and a request for it without alternative names.
Result<KeyAndRequest> make_request(const Subject& subject);

// A certificate with its chain, and its key.
struct Pair {
  std::string certificates = {};  // PEM, the own one first
  std::string key = {};           // PEM
  Subject subject = {};
  Time not_before = {}, not_after = {};

  // As the original's store has it: certificates, then key.
  std::string text() const { return certificates + key; }
};

// Blocks may stand in any order and other text between them; one key, and the first certificate
// must be its own. kInvalid, and why, for what is missing, broken or does not fit.
Result<Pair> parse_pair(std::string_view pem);

}  // namespace mnet::certs
