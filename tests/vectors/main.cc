// Runs the conformance vectors: `vectors [--doubt] [folder]`. The folder is the argument, else
// MULTUS_VECTORS, else the one of the tree. One line per case that fails, one per file, and the sum
// as the last; fails if any case does. With --doubt every expectation is falsified and must fail.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "groups.h"
#include "json/json.h"
#include "runner.h"
#include "sys/file.h"

namespace mnet::vectors {
namespace {

constexpr std::string_view kEnding = ".json";

Tally run_file(const std::string& folder, const std::string& file, Mode mode) {
  const std::string name = file.substr(0, file.size() - kEnding.size());
  Tally tally;
  const auto text = sys::read_file(cat(folder, "/", file));
  const auto cases = text ? json::parse(*text) : Result<json::Value>(text.error());
  if (!cases) {
    tally.failed = 1;
    tally.failures.push_back(cat(name, ": ", cases.error().text()));
    return tally;
  }
  const std::vector<Group> groups = all_groups();
  const Group* group = nullptr;
  for (const Group& each : groups) {
    if (each.name == name) group = &each;
  }
  return run_cases(name, *cases, group, mode);
}

int run(const std::string& folder, Mode mode) {
  const auto entries = sys::list_directory(folder);
  if (!entries) {
    std::fprintf(stderr, "vectors: %s\n", entries.error().text().c_str());
    return 1;
  }
  Tally sum;
  for (const sys::Entry& entry : *entries) {
    if (!entry.name.ends_with(kEnding)) continue;
    const Tally tally = run_file(folder, entry.name, mode);
    for (const std::string& failure : tally.failures) std::printf("FAIL %s\n", failure.c_str());
    const std::string name = entry.name.substr(0, entry.name.size() - kEnding.size());
    std::printf("%s: %s\n", name.c_str(), tally.line().c_str());
    sum.add(tally);
  }
  std::printf("%s\n", sum.line().c_str());
  // A folder without a case that passes proves nothing.
  return sum.failed == 0 && sum.passed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace mnet::vectors

int main(int argc, char** argv) {
  using mnet::vectors::Mode;
  Mode mode = Mode::kVerify;
  const char* named = std::getenv("MULTUS_VECTORS");  // NOLINT(concurrency-mt-unsafe): one thread
  std::string folder = named != nullptr && *named != '\0' ? named : MNET_VECTORS;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--doubt") {
      mode = Mode::kDoubt;
    } else if (argument.starts_with('-')) {
      std::fprintf(stderr, "usage: vectors [--doubt] [folder]\n");
      return 2;
    } else {
      folder = argument;
    }
  }
  return mnet::vectors::run(folder, mode);
}
