// SHA-256 (FIPS 180-4), to identify contents. Not for secrets.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace mnet {

// Of a text that comes in pieces.
class Sha256 {
 public:
  using Digest = std::array<std::uint32_t, 8>;

  void add(std::string_view piece);
  // Of all pieces; as text it is 64 lower-case hexadecimal digits. The object is used up.
  Digest digest();
  std::string hex();

 private:
  Digest hash_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::string rest_;  // less than a block
  std::uint64_t size_ = 0;
};

// Of a text in memory.
Sha256::Digest sha256(std::string_view text);
std::string sha256_hex(std::string_view text);

}  // namespace mnet
