#include "sys/answer_flags.h"

#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/pflags.h"
#include "base/text.h"
#include "base/version.h"
#include "sys/write_all.h"

namespace mnet::sys {

std::optional<int> answer_flags(PFlags& flags, const bool& wants_version, std::string_view program,
                                const std::vector<std::string>& words) {
  const auto outcome = flags.parse(words);
  if (!outcome) {
    print(STDERR_FILENO, cat(outcome.error().text(), "\n", flags.usage()));
    return 2;
  }
  if (*outcome == PFlags::Outcome::kHelp) {
    print(STDERR_FILENO, flags.usage());
    return 1;
  }
  if (!wants_version) return std::nullopt;
  print(STDOUT_FILENO, version_line(program));
  return 0;
}

}  // namespace mnet::sys
