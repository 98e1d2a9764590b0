// CNI specification versions: the supported set, their order, what each allows (01, 1.1 and 1.2).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mnet::cni {

inline constexpr std::array<std::string_view, 7> kVersions = {"0.1.0", "0.2.0", "0.3.0", "0.3.1",
                                                              "0.4.0", "1.0.0", "1.1.0"};
inline constexpr std::string_view kCurrentVersion = "1.1.0";
inline constexpr std::string_view kOldestVersion =
    "0.1.0";  // what an absent or empty version means

struct VersionNumber {
  std::int64_t major = 0, minor = 0, micro = 0;
  friend auto operator<=>(const VersionNumber&, const VersionNumber&) = default;
};

inline constexpr VersionNumber kCheckSince{0, 4, 0};     // CHECK, prevResult on DEL
inline constexpr VersionNumber kGcStatusSince{1, 1, 0};  // GC, STATUS

// "1.1" is 1.1.0; the empty text is 0.1.0.
Result<VersionNumber> parse_version(std::string_view text);

// Whether `text` is a version and at least `bound`.
bool at_least(std::string_view text, const VersionNumber& bound);

// By exact spelling: a plugin that lists "1.1.0" does not support "1.1".
bool is_supported(std::string_view version);

std::vector<std::string> all_versions();

// The versions that a plugin lists in its answer to VERSION (01, 7.6), unchecked.
Result<std::vector<std::string>> parse_version_reply(std::string_view text);

}  // namespace mnet::cni
