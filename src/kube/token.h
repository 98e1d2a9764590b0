// How long a bearer token is good for, as far as it says so itself: service account tokens are JSON
// web tokens. Nothing is verified here; the server does that.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace mnet::kube {

struct TokenLife {
  std::optional<std::chrono::system_clock::time_point> begin = {};  // `iat`, else `nbf`
  std::chrono::system_clock::time_point end = {};                   // `exp`
};

// None if it is not a JSON web token, or has no end.
std::optional<TokenLife> life_of_token(std::string_view token);

}  // namespace mnet::kube
