#include "multusctl/pods_command.h"

#include <algorithm>
#include <array>
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
#include "json/at.h"
#include "json/json.h"
#include "kube/objects.h"
#include "multusctl/cluster.h"
#include "multusctl/commands.h"
#include "multusctl/invocation.h"
#include "multusctl/pod_networks.h"
#include "multusctl/print.h"
#include "multusctl/run_commands.h"

namespace mnet::multusctl {
namespace {

constexpr std::array<std::string_view, 4> kBesideNames = {"managedFields", "annotations", "labels",
                                                          "spec"};

aio::Task<DefinitionNames> fetch_definitions(Cluster* cluster) {
  DefinitionNames names;
  const auto listed = co_await cluster->each(
      kDefinitions, "", {.unused = kBesideNames}, [&names](const json::Object& definition) {
        names.insert(cat(json::text_at(definition, {"metadata", "namespace"}), "/",
                         json::text_at(definition, {"metadata", "name"})));
      });
  // Without the CRD there are none.
  if (!listed && listed.error().code() != Errc::kNotFound) co_return listed.error();
  co_return names;
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
      std::vector<std::string> cells = {pod.name,          pod.node, row.network, row.interface,
                                        addresses_of(row), row.mac,  row.state};
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

// Each becomes its rows as it comes: authors choose how large pods are, and how many there are.
aio::Task<std::vector<PodRows>> fetch_pods(Cluster* cluster, std::string ns,
                                           std::vector<std::string> names) {
  MNET_CO_TRY(const auto& definitions, co_await fetch_definitions(cluster));
  std::vector<PodRows> pods;
  const auto add = [&](const json::Object& pod) {
    PodRows rows = rows_of(pod, definitions);
    if (!rows.is_ended || !names.empty()) pods.push_back(std::move(rows));
  };
  if (!ns.empty() && !names.empty()) {
    for (const std::string& name : names) {
      MNET_CO_TRY(const json::Object pod, co_await cluster->get(kPods, ns, name));
      add(pod);
    }
    co_return pods;
  }
  // A name says nothing of the namespace: all of that name are meant.
  const auto is_meant = [&names](const json::Object& pod) {
    return names.empty() ||
           std::ranges::find(names, json::text_at(pod, {"metadata", "name"})) != names.end();
  };
  MNET_CO_TRY_VOID(co_await cluster->each(kPods, ns, {.unused = kube::kUnusedMembers},
                                          [&](const json::Object& pod) {
                                            if (is_meant(pod)) add(pod);
                                          }));
  if (pods.empty() && !names.empty()) {
    co_return Error(Errc::kNotFound, cat("no namespace has a pod ", names[0]));
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
