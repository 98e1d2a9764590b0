// Reads, writes and converts CNI results of every version (01, 3). No I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cni/address.h"
#include "json/json.h"

namespace mnet::cni {

struct Interface {
  std::string name;
  std::string mac;
  std::int64_t mtu = 0;
  std::string sandbox;
  std::string socket_path;
  std::string pci_id;

  friend bool operator==(const Interface&, const Interface&) = default;
};

struct IpConfig {
  std::string version;                    // "4", "6" or what the plugin wrote; 0.3.0 to 0.4.0 only
  std::optional<std::int64_t> interface;  // index into interfaces; 0 is a real value
  Cidr address;
  std::optional<IpAddress> gateway;

  friend bool operator==(const IpConfig&, const IpConfig&) = default;
};

struct Route {
  Cidr dst;
  std::optional<IpAddress> gw;
  std::int64_t mtu = 0, advmss = 0, priority = 0;
  std::optional<std::int64_t> table, scope;

  bool is_default() const { return dst.prefix == 0; }

  friend bool operator==(const Route&, const Route&) = default;
};

struct Dns {
  std::vector<std::string> nameservers;
  std::string domain;
  std::vector<std::string> search;
  std::vector<std::string> options;

  bool empty() const {
    return nameservers.empty() && domain.empty() && search.empty() && options.empty();
  }

  friend bool operator==(const Dns&, const Dns&) = default;
};

// `ip4` / `ip6` of a result of 0.1.0 or 0.2.0.
struct LegacyIp {
  Cidr ip;
  std::optional<IpAddress> gateway;
  std::vector<Route> routes;

  friend bool operator==(const LegacyIp&, const LegacyIp&) = default;
};

// The result of a plugin's ADD. Which members count depends on `version`: 0.1.0 and 0.2.0 use ip4,
// ip6 and dns; the others use interfaces, ips, routes and dns.
struct NetResult {
  std::string version;
  std::vector<Interface> interfaces;
  std::vector<IpConfig> ips;
  std::vector<Route> routes;
  Dns dns;
  std::optional<LegacyIp> ip4, ip6;
  // Elements that were dropped while reading because they were incomplete (01, 3.1), for the log.
  std::vector<std::string> dropped;

  // At least one interface or address (02, 5.1 step 7d).
  bool has_content() const;

  friend bool operator==(const NetResult&, const NetResult&) = default;
};

// Reads a result that must have the format of `version` (01, 3.3).
Result<NetResult> read_result(const json::Value& document, std::string_view version);
// Reads it by the document's own version; no version means 0.1.0.
Result<NetResult> read_result(const json::Value& document);
// `prevResult` of a plugin's configuration, read by the configuration's version (01, 2.7); none if
// it is absent or null.
Result<std::optional<NetResult>> read_prev_result(const json::Object& config);
// The most that the result of a plugin may have. A plugin that passes on what it was given prints
// what the author of a definition chose.
inline constexpr std::size_t kMaxResultBytes = 4u << 20;
inline constexpr std::size_t kMaxResultValues = 10'000;  // json/count.h
// What a plugin printed on ADD, given the version of the configuration it got on stdin (01, 7.4).
// The output need not name a version. More than the limits is an error, before anything is built.
Result<NetResult> read_plugin_output(std::string_view output, std::string_view config_version);

// A cached result, converted to the version of the configuration that gets it as its previous
// result (01, 6.4).
Result<NetResult> read_cached_result(const json::Value& document, std::string_view config_version);

// Converts to any of the seven versions; "" means 0.1.0 (01, 3.5). A result made in memory without
// a version counts as the newest version that has its members.
Result<NetResult> convert(const NetResult& result, std::string_view version);

// Members in the order of 01, 3.2 (sorted for 1.x), empty ones left out.
json::Object to_json(const NetResult& result);
json::Object to_json(const Dns& dns);

}  // namespace mnet::cni
