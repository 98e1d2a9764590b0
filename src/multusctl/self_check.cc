#include "multusctl/self_check.h"

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/program_output.h"
#include "aio/run.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "multusctl/commands.h"
#include "multusctl/daemons.h"
#include "multusctl/doctor.h"
#include "multusctl/invocation.h"
#include "multusctl/node_socket.h"
#include "multusctl/node_status.h"
#include "sys/environment.h"
#include "sys/file.h"
#include "sys/spawn.h"

namespace mnet::multusctl {
namespace {

constexpr std::size_t kMostOutput = 4u << 20;
constexpr std::chrono::seconds kPatience{60}, kPatienceOfCheck{240};
constexpr std::string_view kDaemon = "multus-daemon";

// Beside this program, as in the image, or in the PATH.
std::string find_daemon(const std::vector<std::string>& environment) {
  std::error_code ignored;
  std::vector<std::string> folders = {
      std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().string(),
      std::filesystem::path(kInPod).parent_path().string()};
  for (const std::string_view one : split(sys::variable(environment, "PATH"), ':')) {
    folders.emplace_back(one);
  }
  for (const std::string& folder : folders) {
    const std::string path = cat(folder, "/", kDaemon);
    if (folder.starts_with('/') && ::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

Result<json::Object> run_self_check(const std::vector<std::string>& environment) {
  // Elsewhere than in the daemon's pod neither its files nor its mounts are those of the daemon.
  const std::string program =
      sys::exists(std::string(kDaemonConfig)) ? find_daemon(environment) : std::string();
  if (program.empty()) {
    return Error(Errc::kNotFound,
                 cat(kDaemon,
                     " is not on this machine: run `multusctl doctor` where kubectl works, "
                     "or in the daemon's pod"));
  }
  auto running = aio::run_program(
      {.path = program, .env = environment, .args = {"-check", "-json"}}, kMostOutput);
  MNET_TRY(const auto& output,
           aio::run(aio::with_deadline(std::move(running),
                                       std::chrono::steady_clock::now() + kPatience)));
  if (output.out.starts_with('{')) return json::parse_object(output.out);
  return Error(Errc::kUnavailable, cat(output.status.text(), ": ", excerpt(trim(output.err), 400)));
}

}  // namespace

std::vector<Check> check_this_node(const Invocation& invocation, const Surroundings& surroundings) {
  std::vector<Check> checks;
  const auto found = run_self_check(surroundings.environment);
  if (found) {
    append(checks, check_findings(*found));
  } else {
    checks.push_back({Verdict::kUnknown, "the self-check", found.error().text()});
  }
  const std::string socket = socket_of(invocation);
  const auto status = ask_daemon(socket, {.path = "/status"});
  const auto parsed = status ? NodeStatus::parse("", *status) : Result<NodeStatus>(status.error());
  if (!parsed) {
    checks.push_back({Verdict::kBad, "the daemon does not answer", parsed.error().text()});
    return checks;
  }
  const auto troubles = troubles_of(*parsed, found ? Beside::kSelfCheck : Beside::kNothing);
  for (const std::string& trouble : troubles) {
    checks.push_back({Verdict::kBad, "the daemon", trouble});
  }
  if (troubles.empty()) checks.push_back({Verdict::kGood, "the daemon is healthy"});
  if (const std::string last = last_error_of(*parsed); !last.empty()) {
    checks.push_back({Verdict::kOdd, "the daemon", last});
  }
  if (!invocation.has("check-pods")) return checks;
  const auto checked =
      ask_daemon(socket, {.method = "POST", .path = "/check", .patience = kPatienceOfCheck});
  if (checked) {
    append(checks, check_containers(*checked));
  } else {
    checks.push_back({Verdict::kUnknown, "CHECK of the pods", checked.error().text()});
  }
  return checks;
}

}  // namespace mnet::multusctl
