#include "cni/address.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/integer.h"
#include "base/result.h"
#include "base/text.h"

namespace mnet::cni {
namespace {

using Bytes = std::array<std::uint8_t, 16>;

constexpr std::array<std::uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
constexpr int kMappedBits = 96;

struct Parsed {
  Bytes bytes{};
  int bits = 0;  // 32 if it was written as IPv4, else 128
};

// inet_pton refuses zones and leading zeros of octets, as CNI requires.
std::optional<Parsed> parse_bytes(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  const std::string terminated(text);
  Parsed out;
  if (inet_pton(AF_INET, terminated.c_str(), out.bytes.data() + kMappedPrefix.size()) == 1) {
    std::ranges::copy(kMappedPrefix, out.bytes.begin());
    out.bits = 32;
    return out;
  }
  if (inet_pton(AF_INET6, terminated.c_str(), out.bytes.data()) == 1) {
    out.bits = 128;
    return out;
  }
  return std::nullopt;
}

std::optional<int> parse_prefix(std::string_view text) {
  if (text.starts_with('-')) return std::nullopt;
  return parse_integer<int>(text);
}

struct ZeroRun {
  std::size_t start = 0, length = 0;
};

// The longest run of at least two zero groups, the first of several (RFC 5952).
ZeroRun longest_zero_run(const std::array<unsigned, 8>& groups) {
  ZeroRun best;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::size_t end = i;
    while (end < groups.size() && groups[end] == 0) ++end;
    if (end - i >= 2 && end - i > best.length) best = {i, end - i};
  }
  return best;
}

// Not inet_ntop: that prints ::1.2.3.4 where RFC 5952 and Go print ::102:304.
std::string v6_text(const Bytes& bytes) {
  std::array<unsigned, 8> groups{};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i] = static_cast<unsigned>(bytes[2 * i] << 8 | bytes[2 * i + 1]);
  }
  const ZeroRun run = longest_zero_run(groups);
  std::string out;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (run.length > 0 && i == run.start) {
      out += "::";
      i += run.length - 1;
      continue;
    }
    if (!out.empty() && !out.ends_with(':')) out += ':';
    char digits[4];
    const auto end = std::to_chars(digits, digits + sizeof digits, groups[i], 16).ptr;
    out.append(digits, end);
  }
  return out;
}

}  // namespace

Result<IpAddress> IpAddress::parse(std::string_view text) {
  const auto parsed = parse_bytes(text);
  if (!parsed) return Error(Errc::kInvalid, cat("invalid IP address: ", excerpt(text)));
  return of_bytes(parsed->bytes);
}

IpAddress IpAddress::of_bytes(const Bytes& bytes) {
  IpAddress address;
  address.bytes_ = bytes;
  return address;
}

bool IpAddress::is_v4() const {
  return std::memcmp(bytes_.data(), kMappedPrefix.data(), kMappedPrefix.size()) == 0;
}

std::string IpAddress::text() const {
  if (!is_v4()) return v6_text(bytes_);
  return cat(bytes_[12], ".", bytes_[13], ".", bytes_[14], ".", bytes_[15]);
}

Result<Cidr> Cidr::parse(std::string_view text) {
  const Error invalid(Errc::kInvalid, cat("invalid CIDR address: ", excerpt(text)));
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return invalid;
  const auto parsed = parse_bytes(text.substr(0, slash));
  const auto prefix = parse_prefix(text.substr(slash + 1));
  if (!parsed || !prefix || *prefix > parsed->bits) return invalid;

  Cidr cidr;
  cidr.address = IpAddress::of_bytes(parsed->bytes);
  // ::ffff:1.2.3.4/120 is 1.2.3.4/24.
  const bool mapped = parsed->bits == 128 && cidr.address.is_v4();
  cidr.prefix = mapped ? std::max(0, *prefix - kMappedBits) : *prefix;
  return cidr;
}

std::string Cidr::text() const { return cat(address.text(), "/", prefix); }

}  // namespace mnet::cni
