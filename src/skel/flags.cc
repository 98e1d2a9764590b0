#include "skel/flags.h"

#include <optional>
#include <string>
#include <string_view>

#include "base/command_line.h"
#include "base/text.h"
#include "base/version.h"
#include "skel/skel.h"

namespace mnet::skel {
namespace {

constexpr int kBadUsage = 2;

}  // namespace

std::optional<int> answer_flags(std::string_view program, int argc, char** argv,
                                const Front& front) {
  bool wants_version = false;
  GoFlags flags(argc > 0 ? std::string(argv[0]) : std::string(program), "");
  flags.add("v", &wants_version, "Show version");
  flags.add("version", &wants_version, "Show version");
  const auto parsed = flags.parse(words_of(argc, argv));
  if (!parsed) {
    front.write_stderr(cat(parsed.error().text(), "\n", flags.usage()));
    return kBadUsage;
  }
  if (*parsed == GoFlags::Outcome::kHelp) {
    front.write_stderr(flags.usage());
    return 0;
  }
  if (!wants_version) return std::nullopt;
  return front.write_stdout(cat(version_line(program), "\n")) ? 0 : 1;
}

}  // namespace mnet::skel
