// Properties that hold for every result of every version, checked on random results. The seed is
// fixed, so that a failure can be repeated.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cni/address.h"
#include "cni/result.h"
#include "cni/version.h"
#include "json/json.h"

namespace mnet::cni {
namespace {

class Chance {
 public:
  explicit Chance(std::uint32_t seed) : engine_(seed) {}

  bool coin() { return below(2) == 0; }
  std::size_t below(std::size_t bound) { return engine_() % bound; }
  std::string text() { return coin() ? std::string() : "t" + std::to_string(below(9)); }
  std::int64_t number() { return coin() ? 0 : static_cast<std::int64_t>(below(10000)); }
  std::optional<std::int64_t> optional_number() {
    if (coin()) return std::nullopt;
    return number();
  }
  std::vector<std::string> texts() {
    std::vector<std::string> out;
    while (coin()) out.push_back("x" + std::to_string(below(99)));
    return out;
  }

  IpAddress address(bool v4) {
    std::array<std::uint8_t, 16> bytes{};
    bytes[10] = bytes[11] = 0xFF;
    if (!v4) {
      bytes[0] = 0xFD;
      for (std::size_t i = 1; i < 12; ++i) bytes[i] = static_cast<std::uint8_t>(below(3));
    }
    for (std::size_t i = 12; i < 16; ++i) bytes[i] = static_cast<std::uint8_t>(below(256));
    return IpAddress::of_bytes(bytes);
  }
  std::optional<IpAddress> gateway() {
    if (coin()) return std::nullopt;
    return address(coin());
  }
  Cidr cidr(bool v4) {
    return {.address = address(v4), .prefix = static_cast<int>(below(v4 ? 33 : 129))};
  }

  Route route(bool v4) {
    return {.dst = cidr(v4),
            .gw = gateway(),
            .mtu = number(),
            .advmss = number(),
            .priority = number(),
            .table = optional_number(),
            .scope = optional_number()};
  }

  NetResult listed(std::string_view version) {
    const bool modern = version.starts_with("1.");
    NetResult result;
    result.version = version;
    while (coin()) {
      result.interfaces.push_back({.name = text(),
                                   .mac = text(),
                                   .mtu = modern ? number() : 0,
                                   .sandbox = text(),
                                   .socket_path = modern ? text() : "",
                                   .pci_id = modern ? text() : ""});
    }
    while (coin()) {
      const bool v4 = coin();
      result.ips.push_back({.version = modern ? ""
                                       : v4   ? "4"
                                              : "6",
                            .interface = optional_number(),
                            .address = cidr(v4),
                            .gateway = gateway()});
    }
    while (coin()) result.routes.push_back(route(coin()));
    result.dns = dns();
    return result;
  }

  NetResult legacy(std::string_view version) {
    NetResult result;
    result.version = version;
    if (coin()) result.ip4 = legacy_ip(true);
    if (coin()) result.ip6 = legacy_ip(false);
    result.dns = dns();
    return result;
  }

  NetResult result(std::string_view version) {
    return version < "0.3.0" ? legacy(version) : listed(version);
  }

 private:
  Dns dns() {
    return {.nameservers = texts(), .domain = text(), .search = texts(), .options = texts()};
  }
  LegacyIp legacy_ip(bool v4) {
    LegacyIp out{.ip = cidr(v4), .gateway = gateway(), .routes = {}};
    while (coin()) out.routes.push_back(route(v4));
    return out;
  }

  std::mt19937 engine_;
};

void strip_interface_extras(NetResult& result) {
  for (Interface& interface : result.interfaces) {
    interface.mtu = 0;
    interface.socket_path.clear();
    interface.pci_id.clear();
  }
}

void strip_route_extras(std::vector<Route>& routes) {
  for (Route& route : routes) {
    Route kept;
    kept.dst = route.dst;
    kept.gw = route.gw;
    route = kept;
  }
}

bool is_old(std::string_view version) { return version < "0.3.0"; }
bool is_modern(std::string_view version) { return version.starts_with("1."); }

// What is left of `original` after a conversion to `via` and back, if only the schemas of 01, 3.2
// decide: old results hold one address per family, middle ones no extras of interfaces.
NetResult kept_by(const NetResult& original, std::string_view via) {
  NetResult kept = original;
  if (is_old(original.version) || is_modern(via)) return kept;
  if (!is_old(via)) {
    strip_interface_extras(kept);
    return kept;
  }
  kept.interfaces.clear();
  kept.ips.clear();
  for (const bool v4 : {true, false}) {
    for (const IpConfig& ip : original.ips) {
      if (ip.address.is_v4() != v4) continue;
      kept.ips.push_back(ip);
      kept.ips.back().interface.reset();
      break;
    }
  }
  std::vector<Route> routes;
  for (const bool v4 : {true, false}) {
    const bool has_address = [&] {
      for (const IpConfig& ip : kept.ips) {
        if (ip.address.is_v4() == v4) return true;
      }
      return false;
    }();
    for (const Route& route : original.routes) {
      if (has_address && route.dst.is_v4() == v4) routes.push_back(route);
    }
  }
  strip_route_extras(routes);
  kept.routes = std::move(routes);
  return kept;
}

// Converted to a newer version and back, an old result loses the extras of its routes: B→A drops
// them.
NetResult expected_after(const NetResult& original, std::string_view via) {
  NetResult kept = kept_by(original, via);
  if (is_old(original.version) && !is_old(via)) {
    if (kept.ip4) strip_route_extras(kept.ip4->routes);
    if (kept.ip6) strip_route_extras(kept.ip6->routes);
  }
  return kept;
}

class EveryPairOfVersions
    : public testing::TestWithParam<std::tuple<std::string_view, std::string_view>> {};

INSTANTIATE_TEST_SUITE_P(Result, EveryPairOfVersions,
                         testing::Combine(testing::ValuesIn(kVersions),
                                          testing::ValuesIn(kVersions)));

TEST_P(EveryPairOfVersions, KeepsEveryFieldThatTheOtherVersionCanHold) {
  const auto [version, via] = GetParam();
  Chance chance(7);
  int compared = 0;

  for (int round = 0; round < 200; ++round) {
    const NetResult original = chance.result(version);
    const auto there = convert(original, via);
    if (!there) {
      // Only a result without addresses cannot become an old one.
      ASSERT_TRUE(is_old(via) && original.ips.empty()) << there.error().text();
      continue;
    }
    const auto back = convert(*there, version);
    if (!back) {
      ASSERT_TRUE(is_old(version) && !original.ip4 && !original.ip6) << back.error().text();
      continue;
    }

    EXPECT_EQ(there->version, via);
    EXPECT_EQ(json::dump(to_json(*back)), json::dump(to_json(expected_after(original, via))));
    ++compared;
  }

  EXPECT_GT(compared, 50);
}

class EveryVersion : public testing::TestWithParam<std::string_view> {};

INSTANTIATE_TEST_SUITE_P(Result, EveryVersion, testing::ValuesIn(kVersions));

TEST_P(EveryVersion, IsReadBackAsItWasPrinted) {
  Chance chance(11);

  for (int round = 0; round < 200; ++round) {
    const NetResult original = chance.result(GetParam());
    const std::string text = json::dump(to_json(original), json::kPretty);

    const auto again = read_result(json::parse(text).value());

    ASSERT_TRUE(again.has_value()) << again.error().text() << "\n" << text;
    EXPECT_EQ(*again, original) << text;
  }
}

TEST_P(EveryVersion, ConvertedToVersion1IsAcceptedByAReaderOf110) {
  Chance chance(13);

  for (int round = 0; round < 200; ++round) {
    const auto converted = convert(chance.result(GetParam()), round % 2 == 0 ? "1.0.0" : "1.1.0");
    ASSERT_TRUE(converted.has_value());

    EXPECT_TRUE(read_result(to_json(*converted), "1.1.0").has_value());
  }
}

}  // namespace
}  // namespace mnet::cni
