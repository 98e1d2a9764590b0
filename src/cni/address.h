// IP addresses and CIDR prefixes as CNI results hold them (01, 3.1): host bits are kept, text is
// canonical.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mnet::cni {

// An IPv4-mapped IPv6 address is an IPv4 address.
class IpAddress {
 public:
  IpAddress() = default;
  static Result<IpAddress> parse(std::string_view text);  // `invalid IP address: x`
  static IpAddress of_bytes(const std::array<std::uint8_t, 16>& bytes);

  bool is_v4() const;
  std::string text() const;  // dotted quad, or lower-case RFC 5952
  const std::array<std::uint8_t, 16>& bytes() const { return bytes_; }  // v4 in mapped form

  friend bool operator==(const IpAddress&, const IpAddress&) = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};
};

struct Cidr {
  IpAddress address;
  int prefix = 0;  // 0 to 32, or 0 to 128

  static Result<Cidr> parse(std::string_view text);  // `invalid CIDR address: x`
  std::string text() const;
  bool is_v4() const { return address.is_v4(); }

  friend bool operator==(const Cidr&, const Cidr&) = default;
};

}  // namespace mnet::cni
