// The text of `00-multus.conf` (03, 6.3 to 6.5), from the daemon's settings and the primary. Pure.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/json.h"
#include "nodeconf/primary.h"

namespace mnet::nodeconf {

inline constexpr std::string_view kNetworkName = "multus-cni-network";
// The name is the same for every version.
inline constexpr std::string_view kOwnFile = "00-multus.conf";

// What of the daemon's configuration goes into the file.
struct Settings {
  std::string bin_dir;
  std::map<std::string, bool> capabilities;
  std::string cni_version;
  std::string log_file, log_level;
  bool log_to_stderr = false;
  std::optional<json::Object> log_options;  // its members in their order
  bool namespace_isolation = false;
  std::string global_namespaces;
  std::string type = "multus-shim";
  std::string cni_dir, auxiliary_chain_name, daemon_socket_dir;
  bool override_network_name = false;
  std::optional<std::int64_t> shim_timeout;
};

struct FromPrimary {
  std::string name = std::string(kNetworkName);
  std::string cluster_network;               // path of the primary's file, as the daemon sees it
  std::map<std::string, bool> capabilities;  // those that are false are left out
};

// Compact, without a newline, the members in the original's order: the same input gives the same
// bytes.
std::string generate(const Settings& settings, const FromPrimary& from);

// Makes one text after another while the primary changes. It remembers only the last good network
// name.
class Generator {
 public:
  explicit Generator(Settings settings) : settings_(std::move(settings)) {}

  struct Output {
    std::string text;
    std::vector<std::string> warnings;  // for people
  };
  // An error only if `overrideNetworkName` asks for a name and there never was one.
  Result<Output> output(const std::string& path, const Primary& primary);

  const Settings& settings() const { return settings_; }

 private:
  Result<std::string> name_of(const Primary& primary, std::vector<std::string>& warnings);

  Settings settings_;
  std::string last_name_;
};

}  // namespace mnet::nodeconf
