#include "multusctl/daemons.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <string>
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
#include "multusctl/node_status.h"
#include "sys/write_all.h"

namespace mnet::multusctl {
namespace {

constexpr std::chrono::seconds kPatience{10};

DaemonPod daemon_pod(const json::Object& pod) {
  DaemonPod out{.node = json::text_at(pod, {"spec", "nodeName"}),
                .ns = json::text_at(pod, {"metadata", "namespace"}),
                .name = json::text_at(pod, {"metadata", "name"}),
                .container = {}};
  const json::Array* containers = json::as_array(json::find_at(pod, {"spec", "containers"}));
  if (containers != nullptr && !containers->empty() && containers->front().as_object() != nullptr) {
    out.container = json::text_at(*containers->front().as_object(), {"name"});
  }
  const std::string phase = json::text_at(pod, {"status", "phase"});
  if (phase != "Running") {
    out.why_not =
        cat("the daemon's pod is ", phase, ": kubectl -n ", out.ns, " describe pod ", out.name);
  }
  return out;
}

// Asks the daemons, kAtOnce of them side by side.
class Survey {
 public:
  static constexpr std::size_t kAtOnce = 16;

  Survey(Cluster& cluster, std::vector<DaemonPod> pods, bool shows_progress)
      : cluster_(cluster), pods_(std::move(pods)), shows_progress_(shows_progress) {
    for (const DaemonPod& pod : pods_) nodes_.push_back({.node = pod.node, .status = {}});
  }

  aio::Task<std::vector<NodeStatus>> run() {
    std::vector<aio::Task<void>> workers;
    for (std::size_t i = 0; i < std::min(kAtOnce, pods_.size()); ++i) workers.push_back(work());
    const auto ended = co_await aio::all(std::move(workers));
    for (const auto& one : ended) {
      if (!one) co_return one.error();
    }
    if (shows_progress_) sys::print(STDERR_FILENO, "");
    co_return std::move(nodes_);
  }

 private:
  aio::Task<void> work() {
    while (next_ < pods_.size()) {
      const std::size_t index = next_++;
      auto answer = co_await ask(pods_[index]);
      if (answer) {
        nodes_[index] = *std::move(answer);
      } else {
        nodes_[index].why = answer.error().text();
      }
      ++done_;
      if (shows_progress_) show();
    }
    co_return Result<void>();
  }

  aio::Task<NodeStatus> ask(DaemonPod pod) {
    if (!pod.why_not.empty()) co_return Error(Errc::kUnavailable, pod.why_not);
    kube::Exec exec{.ns = pod.ns,
                    .pod = pod.name,
                    .container = pod.container,
                    .command = {std::string(kInPod), "status", "-o", "json"}};
    MNET_CO_TRY(auto&& text, co_await cluster_.run(std::move(exec),
                                                   std::chrono::steady_clock::now() + kPatience));
    MNET_CO_TRY(auto&& answer, json::parse_object(text));
    const json::Array* nodes = json::as_array(answer.find("nodes"));
    const json::Object* first =
        nodes == nullptr || nodes->empty() ? nullptr : nodes->front().as_object();
    const json::Value* status = first == nullptr ? nullptr : first->find("status");
    if (json::as_object(status) == nullptr) {
      co_return Error(Errc::kProtocol, "the answer has no status");
    }
    co_return NodeStatus::parse(pod.node, json::dump(*status));
  }

  void show() const {
    const std::string line = cat("\r", done_, "/", pods_.size(), " nodes");
    (void)sys::write_all(STDERR_FILENO, line, "stderr");
  }

  Cluster& cluster_;
  const std::vector<DaemonPod> pods_;
  const bool shows_progress_;
  std::vector<NodeStatus> nodes_;
  std::size_t next_ = 0, done_ = 0;
};

}  // namespace

aio::Task<std::vector<DaemonPod>> find_daemons(Cluster* cluster, std::string ns,
                                               std::vector<std::string> wanted) {
  MNET_CO_TRY(auto&& pods, co_await cluster->list(kPods, ns, "labelSelector=app%3Dmultus"));
  MNET_CO_TRY(auto&& nodes, co_await cluster->list(kNodes, ""));
  std::map<std::string, DaemonPod> by_node;
  for (const json::Value& node : nodes) {
    if (node.as_object() == nullptr) continue;
    const std::string name = json::text_at(*node.as_object(), {"metadata", "name"});
    by_node[name] = {
        .node = name,
        .ns = ns,
        .name = {},
        .container = {},
        .why_not = cat("no pod with the label app=multus in namespace ", ns,
                       " is on this node: look at the DaemonSet's tolerations and events")};
  }
  for (const json::Value& pod : pods) {
    if (pod.as_object() == nullptr) continue;
    DaemonPod one = daemon_pod(*pod.as_object());
    DaemonPod& known = by_node[one.node];
    if (!known.why_not.empty()) known = std::move(one);
  }
  std::vector<DaemonPod> out;
  for (auto& [name, pod] : by_node) {
    const bool is_wanted = wanted.empty() || std::ranges::find(wanted, name) != wanted.end();
    if (is_wanted && !name.empty()) out.push_back(std::move(pod));
  }
  co_return out;
}

aio::Task<std::vector<NodeStatus>> ask_daemons(Cluster* cluster, std::vector<DaemonPod> pods,
                                               bool shows_progress) {
  Survey survey(*cluster, std::move(pods), shows_progress);
  co_return co_await survey.run();
}

}  // namespace mnet::multusctl
