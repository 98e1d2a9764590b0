#include "multusctl/status_command.h"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/http.h"
#include "multusctl/cluster.h"
#include "multusctl/commands.h"
#include "multusctl/daemons.h"
#include "multusctl/invocation.h"
#include "multusctl/node_status.h"
#include "multusctl/print.h"
#include "sys/file.h"

namespace mnet::multusctl {
namespace {

constexpr std::chrono::seconds kPatience{10};

// On the host, and where the manifests mount the host's /run.
constexpr std::string_view kSockets[] = {"/run/multus/multus.sock", "/host/run/multus/multus.sock"};

// The daemon's on this machine.
std::string socket_of(const Invocation& invocation) {
  if (std::string named = invocation.text("socket"); !named.empty()) return named;
  for (const std::string_view path : kSockets) {
    if (sys::exists(std::string(path))) return std::string(path);
  }
  return std::string(kSockets[0]);
}

Error unreachable(const std::string& socket, const Error& why) {
  return why.with_text(
      cat(why.text(), "; no daemon answers on ", socket,
          ": is multus-daemon running on this node, and are you root? (`kubectl -n "
          "kube-system get pods -l app=multus -o wide`)"));
}

Result<NodeStatus> fetch_here(const std::string& socket) {
  http::ClientRequest request;
  request.target = "/status";
  auto answer = aio::run(
      http::request_unix(socket, std::move(request), std::chrono::steady_clock::now() + kPatience));
  if (!answer) return unreachable(socket, answer.error());
  if (answer->status == 404) {
    return Error(Errc::kNotFound,
                 cat("the daemon on ", socket, " has no /status: it is older, or not ours"));
  }
  if (answer->status != 200) {
    return Error(Errc::kProtocol,
                 cat(socket, " answered ", answer->status, ": ", excerpt(trim(answer->body))));
  }
  return NodeStatus::parse("", answer->body);
}

aio::Task<std::vector<NodeStatus>> fetch_all(Cluster* cluster, std::string ns,
                                             std::vector<std::string> wanted, bool shows_progress) {
  MNET_CO_TRY(auto&& pods, co_await find_daemons(cluster, std::move(ns), std::move(wanted)));
  co_return co_await ask_daemons(cluster, std::move(pods), shows_progress);
}

// On a node the socket is asked, unless the command line speaks of a cluster.
bool is_about_this_node(const Invocation& invocation) {
  if (!invocation.text("socket").empty()) return true;
  const bool names_cluster = !invocation.text("kubeconfig").empty() ||
                             !invocation.text("context").empty() ||
                             !invocation.text("namespace").empty() || !invocation.arguments.empty();
  return !names_cluster && sys::exists(socket_of(invocation));
}

Result<std::vector<NodeStatus>> fetch_nodes(const Invocation& invocation,
                                            const Surroundings& surroundings) {
  if (is_about_this_node(invocation)) {
    MNET_TRY(auto&& node, fetch_here(socket_of(invocation)));
    if (node.node.empty()) node.node = "this node";
    return std::vector<NodeStatus>{std::move(node)};
  }
  MNET_TRY(const auto cluster, Cluster::open(invocation, surroundings));
  const std::string named = invocation.text("namespace");
  return aio::run(cluster->loop(),
                  fetch_all(cluster.get(), named.empty() ? std::string(kDaemonNamespace) : named,
                            invocation.arguments, surroundings.shows_progress));
}

}  // namespace

int run_status(const Invocation& invocation, Surroundings& surroundings) {
  const auto nodes = fetch_nodes(invocation, surroundings);
  if (!nodes) {
    surroundings.output.complain("status", nodes.error().text());
    return 1;
  }
  const std::string format = invocation.text("output");
  if (format == "json" || format == "yaml") {
    return print_value(to_json(*nodes), invocation, surroundings);
  }
  surroundings.output.print(
      status_table(*nodes, format == "wide").text(!invocation.has("no-headers")));
  for (const NodeStatus& node : *nodes) {
    for (const std::string& trouble : troubles_of(node)) {
      surroundings.output.complain(node.node, trouble);
    }
  }
  return 0;
}

}  // namespace mnet::multusctl
