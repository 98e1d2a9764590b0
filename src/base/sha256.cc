#include "base/sha256.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace mnet {
namespace {

using Word = std::uint32_t;

constexpr std::size_t kBlock = 64;

// FIPS 180-4, 4.2.2: the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<Word, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::array<Word, 64> schedule(std::string_view block) {
  std::array<Word, 64> words{};
  for (std::size_t i = 0; i < kBlock; ++i) {
    words[i / 4] = (words[i / 4] << 8U) | static_cast<unsigned char>(block[i]);
  }
  for (std::size_t i = 16; i < words.size(); ++i) {
    const Word a = words[i - 15];
    const Word b = words[i - 2];
    words[i] = words[i - 16] + words[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3U)) +
               (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10U));
  }
  return words;
}

void mix(Sha256::Digest& hash, std::string_view block) {
  const std::array<Word, 64> words = schedule(block);
  auto [a, b, c, d, e, f, g, h] = hash;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Word first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                       ((e & f) ^ (~e & g)) + kRound[i] + words[i];
    const Word second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const Sha256::Digest mixed = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < hash.size(); ++i) hash[i] += mixed[i];
}

// What follows the last whole block: the rest, a one bit, zeros, and the length in bits.
std::string tail_of(std::string tail, std::uint64_t size) {
  tail.push_back('\x80');
  while (tail.size() % kBlock != kBlock - 8) tail.push_back('\0');
  const std::uint64_t bits = size * 8;
  for (unsigned shift = 64; shift > 0; shift -= 8) {
    tail.push_back(static_cast<char>((bits >> (shift - 8)) & 0xffU));
  }
  return tail;
}

}  // namespace

void Sha256::add(std::string_view piece) {
  size_ += piece.size();
  if (!rest_.empty()) {
    const std::size_t missing = std::min(kBlock - rest_.size(), piece.size());
    rest_ += piece.substr(0, missing);
    piece.remove_prefix(missing);
    if (rest_.size() < kBlock) return;
    mix(hash_, rest_);
    rest_.clear();
  }
  for (; piece.size() >= kBlock; piece.remove_prefix(kBlock)) mix(hash_, piece.substr(0, kBlock));
  rest_ = piece;
}

Sha256::Digest Sha256::digest() {
  const std::string tail = tail_of(std::move(rest_), size_);
  for (std::string_view left = tail; !left.empty(); left.remove_prefix(kBlock)) {
    mix(hash_, left.substr(0, kBlock));
  }
  return hash_;
}

std::string Sha256::hex() {
  std::string hex;
  for (const Word word : digest()) {
    for (unsigned shift = 32; shift > 0; shift -= 4) {
      hex.push_back("0123456789abcdef"[(word >> (shift - 4)) & 0xfU]);
    }
  }
  return hex;
}

Sha256::Digest sha256(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return hash.digest();
}

std::string sha256_hex(std::string_view text) {
  Sha256 hash;
  hash.add(text);
  return hash.hex();
}

}  // namespace mnet
