#include "install/program.h"

#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/pflags.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/answer_flags.h"
#include "sys/copy_file.h"
#include "sys/file.h"
#include "sys/write_all.h"

namespace mnet::install {
namespace {

constexpr std::string_view kSources = "/usr/src/multus-cni/bin";

struct Options {
  std::string type;
  std::string target = "/host/opt/cni/bin";
  std::string multusctl_dir = {};  // empty: multusctl is not installed
  bool wants_version = false;
};

// The program that the container runtime is to start; empty if there is no such type.
std::string_view program_of(std::string_view type) {
  if (type == "thick") return "multus-shim";
  return type == "thin" ? "multus" : "";
}

Result<std::string> install(std::string_view program, const std::string& directory,
                            std::string_view name = {}) {
  std::string source = cat(kSources, "/", program);
  const auto copied = sys::copy_file(source, cat(directory, "/", name.empty() ? program : name));
  if (!copied) return copied.error().wrap(cat("failed to copy ", source, " to ", directory));
  return source;
}

Result<void> install_all(std::string_view program, const std::string& directory) {
  MNET_TRY([[maybe_unused]] const auto& plugin, install(program, directory));
  sys::print(STDOUT_FILENO, cat("multus ", program, " copy succeeded!"));
  MNET_TRY(const auto& passthru, install("passthru", directory));
  sys::print(STDOUT_FILENO, cat("passthru cni ", passthru, " copy succeeded!"));
  // Files that a killed installer left. They do no harm, so failing to remove them is not an error.
  (void)sys::sweep_temporaries(directory, sys::kTemporaryAge);
  return {};
}

// The file of thin multus, whose name says what it does (decision 0057).
Result<void> install_multusctl(const std::string& directory) {
  if (directory.empty()) return {};
  MNET_TRY_VOID(sys::make_directories(directory, 0755));
  MNET_TRY([[maybe_unused]] const auto& source, install("multus", directory, "multusctl"));
  sys::print(STDOUT_FILENO, cat("multusctl copy to ", directory, " succeeded!"));
  return {};
}

int run(const Options& options, const PFlags& flags) {
  const std::string_view program = program_of(options.type);
  if (program.empty()) {
    sys::print(STDERR_FILENO,
               cat("--type is missing or --type has invalid value\n", flags.usage()));
    return 1;
  }
  auto done = install_all(program, options.target);
  if (done) done = install_multusctl(options.multusctl_dir);
  if (done) return 0;
  sys::print(STDERR_FILENO, cat("install_multus: ", done.error().text()));
  return 1;
}

}  // namespace

int run_program(const std::vector<std::string>& words) {
  Options options;
  PFlags flags("install_multus",
               cat("Copies multus-shim (thick) or multus (thin), and passthru, from ", kSources,
                   " to the host's directory of CNI plugins."));
  flags.add({"type", 't'}, &options.type, "what to install: thick or thin");
  flags.add({"dest-dir", 'd'}, &options.target, "directory to install into");
  flags.add("multusctl-dir", &options.multusctl_dir,
            "also install multusctl into this directory, e.g. /host/usr/local/bin");
  flags.add("version", &options.wants_version, "print the version and exit");
  const auto status = sys::answer_flags(flags, options.wants_version, "install_multus", words);
  if (status) return *status;
  return run(options, flags);
}

}  // namespace mnet::install
