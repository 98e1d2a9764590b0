// multus-shim: the CNI plugin that the container runtime starts; it asks the daemon (03, 3).

#include "base/command_line.h"
#include "base/text.h"
#include "base/version.h"
#include "shim/shim.h"
#include "skel/skel.h"

namespace {

constexpr int kBadUsage = 2;

}  // namespace

int main(int argc, char** argv) {
  const mnet::shim::Surroundings surroundings = mnet::shim::Surroundings::of_process();
  bool wants_version = false;
  mnet::GoFlags flags(argc > 0 ? argv[0] : "multus-shim", "");
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
        surroundings.front.write_stdout(mnet::cat(mnet::version_line("multus-shim"), "\n"));
    return written ? 0 : 1;
  }
  return mnet::shim::run(surroundings);
}
