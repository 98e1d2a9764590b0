#include "lint/report.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "json/json.h"
#include "lint/finding.h"

namespace mnet::lint {
namespace {

Severity severity_of(const Finding& finding) { return code_of(finding.code).severity; }

std::string coloured(Severity severity, bool in_colour) {
  const std::string_view name = name_of(severity);
  if (!in_colour) return std::string(name);
  return cat(severity == Severity::kError ? "\033[31m" : "\033[33m", name, "\033[0m");
}

// The whole text, with everything escaped that a terminal would obey.
std::string printable(std::string_view text) { return excerpt(text, text.size()); }

// GitHub reads `%`, line breaks and, in properties, `:` and `,` from escapes.
std::string escaped(std::string_view text, bool is_property) {
  std::string out;
  for (const char c : text) {
    if (c == '%') {
      out += "%25";
    } else if (c == '\n') {
      out += "%0A";
    } else if (c == '\r') {
      out += "%0D";
    } else if (is_property && c == ':') {
      out += "%3A";
    } else if (is_property && c == ',') {
      out += "%2C";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string to_text(const std::vector<Finding>& findings, bool in_colour) {
  std::string out;
  for (const Finding& finding : findings) {
    const Spot& spot = finding.spot;
    out += cat(printable(spot.file), ":", spot.line, ":", spot.column, " ");
    if (!spot.field.empty()) out += cat(printable(spot.field), " ");
    if (!spot.path.empty()) out += cat(printable(spot.path), " ");
    out += cat(coloured(severity_of(finding), in_colour), " ", finding.code, " ",
               printable(finding.object), ": ", printable(finding.text), "\n");
  }
  return out;
}

std::string to_github(const std::vector<Finding>& findings) {
  std::string out;
  for (const Finding& finding : findings) {
    const Spot& spot = finding.spot;
    out += cat("::", name_of(severity_of(finding)), " file=", escaped(spot.file, true),
               ",line=", spot.line, ",col=", spot.column, ",title=", finding.code,
               "::", escaped(cat(finding.object, ": ", finding.text), false), "\n");
  }
  return out;
}

json::Object to_json(const std::vector<Finding>& findings) {
  json::Array list;
  for (const Finding& finding : findings) {
    const Spot& spot = finding.spot;
    list.push_back(json::Object{{"file", spot.file},
                                {"line", spot.line},
                                {"column", spot.column},
                                {"field", spot.field},
                                {"path", spot.path},
                                {"severity", name_of(severity_of(finding))},
                                {"code", finding.code},
                                {"object", finding.object},
                                {"message", finding.text}});
  }
  return json::Object{{"version", 1}, {"findings", std::move(list)}};
}

Counts count(const std::vector<Finding>& findings) {
  Counts counts;
  for (const Finding& finding : findings) {
    ++(severity_of(finding) == Severity::kError ? counts.errors : counts.warnings);
  }
  return counts;
}

}  // namespace mnet::lint
