#include "multusctl/report/report_command.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "aio/task.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "base/version.h"
#include "multusctl/cluster.h"
#include "multusctl/commands.h"
#include "multusctl/daemons.h"
#include "multusctl/doctor_command.h"
#include "multusctl/invocation.h"
#include "multusctl/lint_command.h"
#include "multusctl/node_status.h"
#include "multusctl/pods_command.h"
#include "multusctl/print.h"
#include "multusctl/report/report_page.h"
#include "multusctl/run_commands.h"
#include "sys/file.h"
#include "sys/write_all.h"

namespace mnet::multusctl {
namespace {

aio::Task<std::vector<NodeStatus>> fetch_nodes(Cluster* cluster, std::string ns,
                                               bool shows_progress) {
  MNET_CO_TRY(auto&& pods, co_await find_daemons(cluster, std::move(ns), {}));
  co_return co_await ask_daemons(cluster, std::move(pods), shows_progress);
}

// The page says what could not be read.
template <typename T>
void take(Result<T> read, T& into, std::string_view what, std::vector<std::string>& unread) {
  if (read) {
    into = *std::move(read);
  } else {
    unread.push_back(cat(what, ": ", read.error().text()));
  }
}

// A Ctrl-C while a file is written ends the program once the file is there: earlier, its temporary
// file would be left.
class InterruptionsWait {
 public:
  InterruptionsWait() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  InterruptionsWait(const InterruptionsWait&) = delete;
  ~InterruptionsWait() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

Result<ReportInput> gather_report(const Invocation& invocation, const Surroundings& surroundings) {
  MNET_TRY(const auto cluster, Cluster::open(invocation, surroundings));
  ReportInput input{.when = rfc3339_utc(std::chrono::system_clock::now()),
                    .version = std::string(build_version().version)};
  take(examine(invocation, surroundings), input.checks, "doctor", input.unread);
  take(aio::run(cluster->loop(), fetch_nodes(cluster.get(), daemon_namespace(invocation),
                                             surroundings.shows_progress)),
       input.nodes, "status", input.unread);
  take(aio::run(cluster->loop(), fetch_pods(cluster.get(), "", {})), input.pods, "pods",
       input.unread);
  take(lint_cluster(invocation, surroundings, input.nodes), input.findings, "lint", input.unread);
  if (input.unread.size() == 4) return Error(Errc::kUnavailable, input.unread.front());
  return input;
}

Result<void> write_output(const Invocation& invocation, std::string_view bytes) {
  const std::string path = invocation.text("output");
  if (path == "-") return sys::write_all(STDOUT_FILENO, bytes, "standard output");
  const InterruptionsWait wait;
  return sys::replace_file(path.contains('/') ? path : cat("./", path), bytes, 0600);
}

int run_report(const Invocation& invocation, Surroundings& surroundings) {
  if (invocation.text("output").empty()) {
    surroundings.output.complain("report", "name the output file with -o");
    return 2;
  }
  const auto done = [&]() -> Result<int> {
    MNET_TRY(const auto& input, gather_report(invocation, surroundings));
    for (const std::string& one : input.unread) surroundings.output.complain("report", one);
    MNET_TRY_VOID(write_output(invocation, report_page(input)));
    return 0;
  }();
  return exit_status(done, invocation, surroundings);
}

}  // namespace mnet::multusctl
