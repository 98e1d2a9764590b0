// The three families of result formats (01, 3.2). Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cni/result.h"
#include "json/json.h"

namespace mnet::cni {

enum class Family : std::uint8_t {
  kLegacy,  // 0.1.0, 0.2.0: ip4, ip6
  kListed,  // 0.3.0 to 0.4.0: ips with a version label
  kSorted,  // 1.0.0, 1.1.0: ips without label, members sorted when written
};

// None if the version is not one of the seven.
std::optional<Family> find_family(std::string_view version);

// The version of the result. For a result made in memory without one: the newest version that has
// its members.
std::string version_of(const NetResult& result);

// `dns` of results and configurations; `path` heads its errors.
Result<Dns> read_dns(const json::Object& object, std::string path);

}  // namespace mnet::cni
