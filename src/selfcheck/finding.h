// One thing that a self-check found wrong on this node: why it matters, and what to do. Knows
// nothing about who prints, logs or counts it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"

namespace mnet::selfcheck {

enum class Severity : std::uint8_t {
  kNote,     // nothing is wrong
  kWarning,  // something is odd, or will fail some day
  kError,    // pods fail because of it, or would
};
std::string_view name_of(Severity severity);  // "note", "warning", "error"

struct Finding {
  Severity severity = Severity::kWarning;
  std::string_view check;  // one of the labels below
  // Sentences without their full stop. A note has only the first.
  std::string what, why, advice;
};
using Findings = std::vector<Finding>;

// Every self-check, as the labels of the metric. daemon/self_check.cc calls them.
inline constexpr std::string_view kConfiguration = "configuration";
inline constexpr std::string_view kFolders = "folders";
inline constexpr std::string_view kMounts = "mounts";
inline constexpr std::string_view kPlugins = "plugins";
inline constexpr std::string_view kMasters = "masters";
inline constexpr std::string_view kDevices = "devices";
inline constexpr std::string_view kApi = "api";
inline constexpr std::string_view kClock = "clock";
inline constexpr std::string_view kResources = "resources";
inline constexpr std::string_view kCniConfigurations = "cni-configurations";
inline constexpr std::string_view kLeftovers = "leftovers";

void append(Findings& to, Findings more);
bool has_error(const Findings& findings);

// `error: plugins: <what>. <why>. <advice>.`
std::string line_of(const Finding& finding);
// {"ok": bool, "findings": [{"severity", "check", "what", "why", "advice"}]}; not ok: has_error().
json::Object json_of(const Findings& findings);

}  // namespace mnet::selfcheck
