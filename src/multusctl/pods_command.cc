#include "multusctl/pods_command.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/at.h"
#include "json/json.h"
#include "multusctl/cluster.h"
#include "multusctl/commands.h"
#include "multusctl/invocation.h"
#include "multusctl/pod_networks.h"
#include "multusctl/print.h"

namespace mnet::multusctl {
namespace {

aio::Task<DefinitionNames> fetch_definitions(Cluster* cluster) {
  DefinitionNames names;
  auto definitions = co_await cluster->list(kDefinitions, "");
  // Without the CRD there are none.
  if (!definitions && definitions.error().code() != Errc::kNotFound) co_return definitions.error();
  for (const json::Value& one : definitions.value_or(json::Array())) {
    const json::Object* object = one.as_object();
    if (object == nullptr) continue;
    names.insert(cat(json::text_at(*object, {"metadata", "namespace"}), "/",
                     json::text_at(*object, {"metadata", "name"})));
  }
  co_return names;
}

aio::Task<json::Array> fetch_objects(Cluster* cluster, std::string ns,
                                     std::vector<std::string> names) {
  json::Array pods;
  if (names.empty() || ns.empty()) {
    MNET_CO_TRY(pods, co_await cluster->list(kPods, ns));
    if (names.empty()) co_return pods;
    // A name says nothing of the namespace: all of that name are meant.
    std::erase_if(pods, [&names](const json::Value& value) {
      const json::Object* pod = value.as_object();
      return pod == nullptr ||
             std::ranges::find(names, json::text_at(*pod, {"metadata", "name"})) == names.end();
    });
    if (pods.empty()) co_return Error(Errc::kNotFound, cat("no namespace has a pod ", names[0]));
    co_return pods;
  }
  for (const std::string& name : names) {
    MNET_CO_TRY(json::Object pod, co_await cluster->get(kPods, ns, name));
    pods.push_back(std::move(pod));
  }
  co_return pods;
}

json::Object to_json(const PodRows& pod, const NetworkRow& row) {
  return {{"namespace", pod.ns},
          {"pod", pod.name},
          {"node", pod.node},
          {"network", row.network},
          {"interface", row.interface},
          {"ips", json::Value(row.ips)},
          {"mac", row.mac},
          {"state", row.state},
          {"explanation", row.why}};
}

void print_table(const std::vector<PodRows>& pods, const Invocation& invocation,
                 Surroundings& surroundings) {
  const bool is_wide = invocation.text("output") == "wide";
  const bool has_namespace = invocation.has("all-namespaces");
  std::vector<std::string> headers = {"POD", "NODE", "NETWORK", "INTERFACE", "IPS", "MAC", "STATE"};
  if (has_namespace) headers.insert(headers.begin(), "NAMESPACE");
  if (is_wide) headers.emplace_back("EXPLANATION");
  Table table(headers);
  for (const PodRows& pod : pods) {
    for (const NetworkRow& row : pod.networks) {
      std::vector<std::string> cells = {pod.name,           pod.node, row.network, row.interface,
                                        join(row.ips, ","), row.mac,  row.state};
      if (has_namespace) cells.insert(cells.begin(), pod.ns);
      if (is_wide) cells.push_back(row.why);
      table.add(std::move(cells));
    }
  }
  if (table.empty()) return surroundings.output.complain("pods", "no pods with networks found");
  surroundings.output.print(table.text(!invocation.has("no-headers")));
  if (is_wide) return;
  for (const PodRows& pod : pods) {
    for (const NetworkRow& row : pod.networks) {
      if (row.is_good()) continue;
      surroundings.output.complain(cat(pod.ns, "/", pod.name, " ", row.network), row.why);
    }
  }
}

}  // namespace

aio::Task<std::vector<PodRows>> fetch_pods(Cluster* cluster, std::string ns,
                                           std::vector<std::string> names) {
  MNET_CO_TRY(const auto& definitions, co_await fetch_definitions(cluster));
  MNET_CO_TRY(const auto& objects, co_await fetch_objects(cluster, std::move(ns), names));
  std::vector<PodRows> pods;
  for (const json::Value& value : objects) {
    if (value.as_object() == nullptr) continue;
    PodRows rows = rows_of(*value.as_object(), definitions);
    if (!rows.is_ended || !names.empty()) pods.push_back(std::move(rows));
  }
  co_return pods;
}

json::Object to_json(const std::vector<PodRows>& pods) {
  json::Array items;
  for (const PodRows& pod : pods) {
    for (const NetworkRow& row : pod.networks) items.push_back(to_json(pod, row));
  }
  return {{"version", 1}, {"networks", std::move(items)}};
}

int run_pods(const Invocation& invocation, Surroundings& surroundings) {
  const auto pods = [&]() -> Result<std::vector<PodRows>> {
    MNET_TRY(const auto cluster, Cluster::open(invocation, surroundings));
    return aio::run(cluster->loop(),
                    fetch_pods(cluster.get(), cluster->ns(), invocation.arguments));
  }();
  if (!pods) {
    surroundings.output.complain("pods", pods.error().text());
    return 1;
  }
  const std::string format = invocation.text("output");
  if (format == "json" || format == "yaml") {
    return print_value(to_json(*pods), invocation, surroundings);
  }
  print_table(*pods, invocation, surroundings);
  return 0;
}

}  // namespace mnet::multusctl
