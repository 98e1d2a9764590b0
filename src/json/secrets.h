// Makes configurations fit for a log: readable, and without their secrets.
#pragma once

#include <string>
#include <string_view>

namespace mnet::json {

// Whether a member of this name holds a secret: token, password, passphrase, secret, credential,
// authorization, private key and their like in any spelling (`k8s_auth_token`, `client-key-data`,
// `apiKey`). Names that only say where a secret is do not count: `tokenFile`, `secretName`.
bool is_secret_name(std::string_view key);

// The text unchanged if it holds no secret; otherwise with `<removed>` in place of each secret, at
// any depth. Booleans, null, empty texts and the path of a kubeconfig are not secrets. A text that
// is not JSON might contain anything, so only its size is given.
std::string without_secrets(std::string_view text);

// The same for a text of any kind that leaves the cluster (a log, a manifest): besides members of
// such names at any depth, also inside JSON that is a string or Base64, it removes private keys,
// tokens (JWT, Bearer, Basic) and passwords of URLs wherever they stand, and what follows such a
// name and `:` or `=`.
std::string scrubbed(std::string_view text);

}  // namespace mnet::json
