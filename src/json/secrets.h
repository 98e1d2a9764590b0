// Configurations as they may stand in a log: readable, and without what nobody may read there.
#pragma once

#include <string>
#include <string_view>

namespace mnet::json {

// Whether a member of this name holds a secret: token, password, passphrase, secret, credential,
// authorization, private key and their like in any spelling (`k8s_auth_token`, `client-key-data`,
// `apiKey`). Names of places are none: `tokenFile`, `secretName`.
bool is_secret_name(std::string_view key);

// The text as it is if it holds no secret; otherwise with `<removed>` in their places, at any
// depth. Switches, null and empty texts are no secrets, and neither is a kubeconfig's path. A text
// that is no JSON might be anything: only its size is told.
std::string without_secrets(std::string_view text);

}  // namespace mnet::json
