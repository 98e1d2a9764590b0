#include "multusctl/nodes.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "aio/task.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/at.h"
#include "json/json.h"
#include "multusctl/cluster.h"
#include "multusctl/commands.h"
#include "multusctl/daemons.h"
#include "multusctl/invocation.h"
#include "multusctl/node_socket.h"

namespace mnet::multusctl {
namespace {

constexpr std::size_t kMostShown = 400;

aio::Task<std::vector<NodeAnswer>> ask_there(Cluster* cluster, std::string ns,
                                             std::vector<std::string> wanted, Errand errand) {
  MNET_CO_TRY(auto&& pods, co_await find_daemons(cluster, std::move(ns), std::move(wanted)));
  co_return co_await run_on_nodes(cluster, std::move(pods), std::move(errand));
}

}  // namespace

Result<std::vector<NodeAnswer>> ask_nodes(const Invocation& invocation,
                                          const Surroundings& surroundings, NodesQuestion question,
                                          std::vector<std::string> wanted) {
  if (wanted.empty() && is_about_this_node(invocation)) {
    std::vector<NodeAnswer> one;
    one.push_back({.node = "this node",
                   .answer = ask_daemon(socket_of(invocation), std::move(question.here))});
    if (!one.front().answer) return one.front().answer.error();
    return one;
  }
  if (const std::string node = invocation.text("node"); wanted.empty() && !node.empty()) {
    wanted.push_back(node);
  }
  MNET_TRY(const auto cluster, Cluster::open(invocation, surroundings));
  return aio::run(cluster->loop(),
                  ask_there(cluster.get(), daemon_namespace(invocation), std::move(wanted),
                            {.command = in_pod(std::move(question.words)),
                             .patience = question.here.patience,
                             .shows_progress = surroundings.shows_progress}));
}

std::string NodeItem::text(std::string_view key) const {
  return excerpt(json::text_at(item, {key}), kMostShown);
}

bool NodeItem::is_ok() const { return json::is_true(item.find("ok")); }

json::Array NodeItems::to_json() const {
  json::Array out;
  for (const NodeItem& one : items) {
    json::Object item = one.item;
    item.set("node", one.node);
    out.push_back(std::move(item));
  }
  return out;
}

NodeItems items_of(const std::vector<NodeAnswer>& answers, std::string_view list) {
  NodeItems out;
  for (const NodeAnswer& one : answers) {
    if (!one.answer) {
      out.silent.push_back(cat(one.node, ": ", one.answer.error().text()));
      continue;
    }
    for (const json::Object* item : json::objects_of(one.answer->find(list))) {
      out.items.push_back({one.node, *item});
    }
  }
  return out;
}

}  // namespace mnet::multusctl
