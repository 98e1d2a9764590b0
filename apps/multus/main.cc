// multus: the whole core in one CNI plugin, for nodes without a daemon (03, 9.1).

#include "adapters/thin.h"
#include "base/command_line.h"
#include "base/text.h"
#include "base/version.h"

namespace {

constexpr int kBadUsage = 2;

}  // namespace

int main(int argc, char** argv) {
  const mnet::adapters::ThinSurroundings surroundings =
      mnet::adapters::ThinSurroundings::of_process();
  bool wants_version = false;
  mnet::GoFlags flags(argc > 0 ? argv[0] : "multus", "");
  flags.boolean("v", &wants_version, "Show version");
  flags.boolean("version", &wants_version, "Show version");
  const auto parsed = flags.parse(mnet::words_of(argc, argv));
  if (!parsed) {
    surroundings.front.write_stderr(mnet::cat(parsed.error().text(), "\n", flags.usage()));
    return kBadUsage;
  }
  if (*parsed == mnet::GoFlags::Outcome::kHelp) {
    surroundings.front.write_stderr(flags.usage());
    return 0;
  }
  if (wants_version) {
    const auto written =
        surroundings.front.write_stdout(mnet::cat(mnet::version_line("multus"), "\n"));
    return written ? 0 : 1;
  }
  return mnet::adapters::run_thin(surroundings);
}
