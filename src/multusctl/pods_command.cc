#include "multusctl/pods_command.h"

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

struct Fetched {
  json::Array pods;
  DefinitionNames definitions;
};

aio::Task<Fetched> fetch(Cluster* cluster, std::vector<std::string> names) {
  Fetched out;
  auto definitions = co_await cluster->list(kDefinitions, "");
  // Without the CRD there are none.
  if (!definitions && definitions.error().code() != Errc::kNotFound) co_return definitions.error();
  for (const json::Value& one : definitions.value_or(json::Array())) {
    const json::Object* object = one.as_object();
    if (object == nullptr) continue;
    out.definitions.insert(cat(json::text_at(*object, {"metadata", "namespace"}), "/",
                               json::text_at(*object, {"metadata", "name"})));
  }
  for (const std::string& name : names) {
    MNET_CO_TRY(json::Object pod, co_await cluster->get(kPods, cluster->ns(), name));
    out.pods.push_back(std::move(pod));
  }
  if (!names.empty()) co_return out;
  MNET_CO_TRY(json::Array pods, co_await cluster->list(kPods, cluster->ns()));
  out.pods = std::move(pods);
  co_return out;
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

int run_pods(const Invocation& invocation, Surroundings& surroundings) {
  const auto fetched = [&]() -> Result<Fetched> {
    MNET_TRY(const auto cluster, Cluster::open(invocation, surroundings));
    return aio::run(cluster->loop(), fetch(cluster.get(), invocation.arguments));
  }();
  if (!fetched) {
    surroundings.output.complain("pods", fetched.error().text());
    return 1;
  }
  std::vector<PodRows> pods;
  json::Array items;
  for (const json::Value& value : fetched->pods) {
    if (value.as_object() == nullptr) continue;
    PodRows rows = rows_of(*value.as_object(), fetched->definitions);
    if (rows.is_ended && invocation.arguments.empty()) continue;
    for (const NetworkRow& row : rows.networks) items.push_back(to_json(rows, row));
    pods.push_back(std::move(rows));
  }
  const std::string format = invocation.text("output");
  if (format == "json" || format == "yaml") {
    return print_value(json::Object{{"version", 1}, {"networks", std::move(items)}}, invocation,
                       surroundings);
  }
  print_table(pods, invocation, surroundings);
  return 0;
}

}  // namespace mnet::multusctl
