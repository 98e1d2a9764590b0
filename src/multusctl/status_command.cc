#include <string>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "aio/task.h"
#include "base/result.h"
#include "base/try.h"
#include "multusctl/cluster.h"
#include "multusctl/commands.h"
#include "multusctl/daemons.h"
#include "multusctl/invocation.h"
#include "multusctl/node_socket.h"
#include "multusctl/node_status.h"
#include "multusctl/print.h"
#include "multusctl/run_commands.h"

namespace mnet::multusctl {
namespace {

aio::Task<std::vector<NodeStatus>> fetch_all(Cluster* cluster, std::string ns,
                                             std::vector<std::string> wanted, bool shows_progress) {
  MNET_CO_TRY(auto&& pods, co_await find_daemons(cluster, std::move(ns), std::move(wanted)));
  co_return co_await ask_daemons(cluster, std::move(pods), shows_progress);
}

Result<std::vector<NodeStatus>> fetch_nodes(const Invocation& invocation,
                                            const Surroundings& surroundings) {
  if (invocation.arguments.empty() && is_about_this_node(invocation)) {
    MNET_TRY(const auto& status, ask_daemon(socket_of(invocation), {.path = "/status"}));
    MNET_TRY(auto&& node, NodeStatus::parse("", status));
    if (node.node.empty()) node.node = "this node";
    return std::vector<NodeStatus>{std::move(node)};
  }
  MNET_TRY(const auto cluster, Cluster::open(invocation, surroundings));
  return aio::run(cluster->loop(), fetch_all(cluster.get(), daemon_namespace(invocation),
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
    if (const std::string last = last_error_of(node); !last.empty()) {
      surroundings.output.complain(node.node, last);
    }
  }
  return 0;
}

}  // namespace mnet::multusctl
