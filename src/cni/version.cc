#include "cni/version.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/integer.h"
#include "base/result.h"
#include "base/text.h"
#include "json/fields.h"
#include "json/json.h"

namespace mnet::cni {
namespace {

// A decimal integer with an optional sign, as Go's Atoi reads it.
std::optional<std::int64_t> parse_part(std::string_view text) {
  // parse_integer knows '-' but no '+'.
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  return parse_integer<std::int64_t>(text);
}

}  // namespace

Result<VersionNumber> parse_version(std::string_view text) {
  if (text.empty()) text = kOldestVersion;
  const std::vector<std::string_view> parts = split(text, '.');
  if (parts.size() > 3) {
    return Error(Errc::kInvalid, cat("invalid version ", go_quoted(text), ": too many parts"));
  }
  constexpr std::array<std::string_view, 3> kNames = {"major", "minor", "micro"};
  std::array<std::int64_t, 3> numbers{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto number = parse_part(parts[i]);
    if (!number) {
      return Error(Errc::kInvalid, cat("failed to convert ", kNames[i], " version part ",
                                       go_quoted(parts[i]), ": not an integer"));
    }
    numbers[i] = *number;
  }
  return VersionNumber{numbers[0], numbers[1], numbers[2]};
}

bool at_least(std::string_view text, const VersionNumber& bound) {
  const auto version = parse_version(text);
  return version && *version >= bound;
}

bool is_supported(std::string_view version) {
  return std::ranges::find(kVersions, version) != kVersions.end();
}

std::vector<std::string> all_versions() { return {kVersions.begin(), kVersions.end()}; }

Result<std::vector<std::string>> parse_version_reply(std::string_view text) {
  constexpr std::string_view kDecoding = "decoding version info";
  auto document = json::parse(text);
  if (!document) return std::move(document).error().wrap(kDecoding);
  const json::Object none;
  const json::Object* reply = document->is_null() ? &none : document->as_object();
  if (reply == nullptr) return json::wrong_kind(kDecoding, "an object", *document);

  std::string version;
  std::vector<std::string> supported;
  json::Fields fields(*reply);
  fields.read("cniVersion", version);
  fields.read("supportedVersions", supported);
  if (auto read = fields.done(); !read) return std::move(read).error().wrap(kDecoding);

  if (version.empty()) return Error(Errc::kProtocol, cat(kDecoding, ": missing field cniVersion"));
  if (!supported.empty()) return supported;
  // The reply of 0.2.0 had no list yet.
  if (version == "0.2.0") return std::vector<std::string>{"0.1.0", "0.2.0"};
  return Error(Errc::kProtocol, cat(kDecoding, ": missing field supportedVersions"));
}

}  // namespace mnet::cni
