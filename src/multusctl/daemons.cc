#include "multusctl/daemons.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/at.h"
#include "json/json.h"
#include "kube/exec.h"
#include "multusctl/cluster.h"
#include "multusctl/command_tables.h"
#include "multusctl/commands.h"
#include "multusctl/invocation.h"
#include "multusctl/node_status.h"
#include "sys/write_all.h"

namespace mnet::multusctl {
namespace {

DaemonPod daemon_pod(const json::Object& pod) {
  DaemonPod out{.node = json::text_at(pod, {"spec", "nodeName"}),
                .ns = json::text_at(pod, {"metadata", "namespace"}),
                .name = json::text_at(pod, {"metadata", "name"}),
                .container = {}};
  if (const auto* first = json::first_object_of(json::find_at(pod, {"spec", "containers"}))) {
    out.container = json::text_at(*first, {"name"});
  }
  const std::string phase = json::text_at(pod, {"status", "phase"});
  if (phase != "Running") {
    out.why_not = cat("the daemon's pod is ", excerpt(phase), ": `kubectl -n ", out.ns,
                      " describe pod ", out.name, "` shows its events");
  }
  return out;
}

// Runs the errand on the nodes, kAtOnce of them side by side.
class Survey {
 public:
  static constexpr std::size_t kAtOnce = 16;

  Survey(Cluster& cluster, std::vector<DaemonPod> pods, Errand errand)
      : cluster_(cluster), pods_(std::move(pods)), errand_(std::move(errand)) {
    for (const DaemonPod& pod : pods_) {
      answers_.push_back(
          {.node = pod.node,
           .answer = Error(Errc::kCancelled, "interrupted before this node was asked")});
    }
  }

  aio::Task<std::vector<NodeAnswer>> run() {
    std::vector<aio::Task<void>> workers;
    for (std::size_t i = 0; i < std::min(kAtOnce, pods_.size()); ++i) workers.push_back(work());
    const auto ended = co_await aio::all(std::move(workers));
    for (const auto& one : ended) {
      if (!one) co_return one.error();
    }
    if (errand_.shows_progress) sys::print(STDERR_FILENO, "");
    co_return std::move(answers_);
  }

 private:
  aio::Task<void> work() {
    while (next_ < pods_.size()) {
      const std::size_t index = next_++;
      answers_[index].answer = co_await ask(pods_[index]);
      ++done_;
      if (errand_.shows_progress) show();
    }
    co_return Result<void>();
  }

  aio::Task<json::Object> ask(DaemonPod pod) {
    if (!pod.why_not.empty()) co_return Error(Errc::kUnavailable, pod.why_not);
    kube::Exec exec{
        .ns = pod.ns, .pod = pod.name, .container = pod.container, .command = errand_.command};
    MNET_CO_TRY(auto&& output,
                co_await cluster_.exec(std::move(exec),
                                       std::chrono::steady_clock::now() + errand_.patience));
    if (output.exit_code == 0 || output.out.starts_with('{')) {
      co_return json::parse_object(output.out);
    }
    co_return failed_command(output);
  }

  void show() const {
    const std::string line = cat("\r", done_, "/", pods_.size(), " nodes");
    (void)sys::write_all(STDERR_FILENO, line, "stderr");
  }

  Cluster& cluster_;
  const std::vector<DaemonPod> pods_;
  const Errand errand_;
  std::vector<NodeAnswer> answers_;
  std::size_t next_ = 0, done_ = 0;
};

Result<NodeStatus> status_in(const std::string& node, const json::Object& answer) {
  const json::Object* first = json::first_object_of(answer.find("nodes"));
  const json::Object* status = first == nullptr ? nullptr : json::as_object(first->find("status"));
  if (status == nullptr) return Error(Errc::kProtocol, "the answer has no status");
  return NodeStatus::parse(node, *status);
}

}  // namespace

std::string_view daemon_flag(const Command& command) {
  constexpr std::string_view kOwn = "daemon-namespace";
  if (std::ranges::find(command.flags, kOwn) != command.flags.end()) return kOwn;
  const std::string_view usual = kDaemonMeanings.front().name;
  const bool means_daemons = flag_of(command, usual).help == kDaemonMeanings.front().help;
  return means_daemons ? usual : std::string_view();
}

std::string daemon_namespace(const Invocation& invocation) {
  std::string named = invocation.text(daemon_flag(*invocation.command));
  return named.empty() ? std::string(kDaemonNamespace) : named;
}

aio::Task<std::vector<DaemonPod>> find_daemons(Cluster* cluster, std::string ns,
                                               std::vector<std::string> wanted) {
  MNET_CO_TRY(auto&& pods, co_await cluster->list(kPods, ns, "labelSelector=app%3Dmultus"));
  MNET_CO_TRY(auto&& nodes, co_await cluster->list(kNodes, ""));
  const std::string_view elsewhere =
      pods.empty() ? ", `kubectl get pods -A -l app=multus` daemons of other namespaces" : "";
  std::map<std::string, DaemonPod> by_node;
  for (const json::Value& node : nodes) {
    if (node.as_object() == nullptr) continue;
    const std::string name = json::text_at(*node.as_object(), {"metadata", "name"});
    by_node[name] = {
        .node = name,
        .ns = ns,
        .name = {},
        .container = {},
        .why_not = cat("no pod labelled app=multus in namespace ", ns,
                       " is on this node: `kubectl -n ", ns,
                       " describe daemonset -l app=multus` shows its node selector, tolerations "
                       "and events",
                       elsewhere)};
  }
  for (const json::Value& pod : pods) {
    if (pod.as_object() == nullptr) continue;
    DaemonPod one = daemon_pod(*pod.as_object());
    DaemonPod& known = by_node[one.node];
    if (!known.why_not.empty()) known = std::move(one);
  }
  by_node.erase("");  // of a pod without a node
  if (by_node.empty()) co_return Error(Errc::kNotFound, "the cluster has no nodes");
  for (const std::string& name : wanted) {
    if (!by_node.contains(name)) {
      co_return Error(Errc::kNotFound,
                      cat("there is no node ", go_quoted(name), " (`kubectl get nodes`)"));
    }
  }
  std::vector<DaemonPod> out;
  for (auto& [name, pod] : by_node) {
    const bool is_wanted = wanted.empty() || std::ranges::find(wanted, name) != wanted.end();
    if (is_wanted) out.push_back(std::move(pod));
  }
  co_return out;
}

aio::Task<std::vector<NodeAnswer>> run_on_nodes(Cluster* cluster, std::vector<DaemonPod> pods,
                                                Errand errand) {
  Survey survey(*cluster, std::move(pods), std::move(errand));
  co_return co_await survey.run();
}

std::vector<std::string> in_pod(std::vector<std::string> words) {
  words.insert(words.begin(), std::string(kInPod));
  for (const char* last : {"--this-node", "-o", "json"}) words.emplace_back(last);
  return words;
}

aio::Task<std::vector<NodeStatus>> ask_daemons(Cluster* cluster, std::vector<DaemonPod> pods,
                                               bool shows_progress) {
  // Older daemons' programs do not know --this-node.
  MNET_CO_TRY(const auto& answers,
              co_await run_on_nodes(cluster, std::move(pods),
                                    {.command = {std::string(kInPod), "status", "-o", "json"},
                                     .shows_progress = shows_progress}));
  std::vector<NodeStatus> nodes;
  for (const NodeAnswer& one : answers) {
    auto status = one.answer ? status_in(one.node, *one.answer) : one.answer.error();
    nodes.push_back(status
                        ? *std::move(status)
                        : NodeStatus{.node = one.node, .status = {}, .why = status.error().text()});
  }
  co_return nodes;
}

}  // namespace mnet::multusctl
