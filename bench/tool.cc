#include "bench/tool.h"

#include <cstdio>
#include <functional>

#include "base/command_line.h"
#include "base/result.h"
#include "json/json.h"

namespace mnet::bench {

int run_tool(GoFlags& flags, int argc, char** argv,
             const std::function<Result<json::Object>()>& measure) {
  const auto outcome = flags.parse(words_of(argc, argv));
  if (!outcome || *outcome == GoFlags::Outcome::kHelp) {
    std::fprintf(stderr, "%s\n%s", outcome ? "" : outcome.error().text().c_str(),
                 flags.usage().c_str());
    return outcome ? 0 : 2;
  }
  const auto report = measure();
  if (!report) {
    std::fprintf(stderr, "%s\n", report.error().text().c_str());
    return 1;
  }
  std::printf("%s\n", json::dump(*report).c_str());
  return 0;
}

}  // namespace mnet::bench
