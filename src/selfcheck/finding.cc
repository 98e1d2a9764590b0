#include "selfcheck/finding.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "json/json.h"

namespace mnet::selfcheck {

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      break;
  }
  return "error";
}

void append(Findings& to, Findings more) { std::ranges::move(more, std::back_inserter(to)); }

bool has_error(const Findings& findings) {
  return std::ranges::any_of(
      findings, [](const Finding& finding) { return finding.severity == Severity::kError; });
}

std::string line_of(const Finding& finding) {
  std::string line = cat(name_of(finding.severity), ": ", finding.check, ": ", finding.what, ".");
  for (const std::string& sentence : {finding.why, finding.advice}) {
    if (!sentence.empty()) line += cat(" ", sentence, ".");
  }
  return line;
}

json::Object json_of(const Findings& findings) {
  json::Array list;
  for (const Finding& finding : findings) {
    list.emplace_back(json::Object{{"severity", std::string(name_of(finding.severity))},
                                   {"check", std::string(finding.check)},
                                   {"what", finding.what},
                                   {"why", finding.why},
                                   {"advice", finding.advice}});
  }
  return {{"ok", !has_error(findings)}, {"findings", std::move(list)}};
}

}  // namespace mnet::selfcheck
