#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"
#include "wire/wire.h"

namespace mnet::wire {

std::string socket_path(std::string_view socket_dir) {
  return clean_path(cat(socket_dir.empty() ? kDefaultSocketDir : socket_dir, "/multus.sock"));
}

bool is_request_id(std::string_view text) {
  return text.size() == 16 && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
         });
}

std::string request_id(std::uint64_t random) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string id;
  for (int shift = 60; shift >= 0; shift -= 4) id += kHex[(random >> shift) & 0xF];
  return id;
}

}  // namespace mnet::wire
