#include "multusctl/lint_command.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
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
#include "lint/finding.h"
#include "lint/lint.h"
#include "lint/report.h"
#include "lint/text.h"
#include "multusctl/cluster.h"
#include "multusctl/commands.h"
#include "multusctl/daemons.h"
#include "multusctl/invocation.h"
#include "multusctl/node_status.h"
#include "multusctl/print.h"
#include "multusctl/run_commands.h"
#include "nodetools/output.h"
#include "sys/file.h"

namespace mnet::multusctl {
namespace {

using namespace std::string_view_literals;
using Files = std::vector<lint::FilePtr>;

constexpr std::size_t kMaxFile = 16u << 20;
constexpr int kMaxDepth = 32;
constexpr std::array kEndings = {".yaml"sv, ".yml"sv, ".json"sv, ".conf"sv, ".conflist"sv};

// What lint reads from the cluster, besides the daemon's ConfigMap.
struct Workload {
  Resource resource;
  std::string_view kind;
};
constexpr std::array kWorkloads = {
    Workload{kPods, "Pod"},
    Workload{{"apps", "v1", "deployments"}, "Deployment"},
    Workload{{"apps", "v1", "statefulsets"}, "StatefulSet"},
    Workload{{"apps", "v1", "daemonsets"}, "DaemonSet"},
    Workload{{"batch", "v1", "jobs"}, "Job"},
    Workload{{"batch", "v1", "cronjobs"}, "CronJob"},
    Workload{{"kubevirt.io", "v1", "virtualmachines"}, "VirtualMachine"}};

// Of which no rule says anything. Authors of pods choose how large they are.
constexpr std::array kUnlinted = {"managedFields"sv,
                                  "finalizers"sv,
                                  "env"sv,
                                  "envFrom"sv,
                                  "args"sv,
                                  "command"sv,
                                  "volumeMounts"sv,
                                  "volumeDevices"sv,
                                  "volumes"sv,
                                  "affinity"sv,
                                  "tolerations"sv,
                                  "hostAliases"sv,
                                  "dnsConfig"sv,
                                  "topologySpreadConstraints"sv,
                                  "conditions"sv,
                                  "containerStatuses"sv,
                                  "initContainerStatuses"sv,
                                  "ephemeralContainerStatuses"sv};

bool is_read(std::string_view name) {
  return !name.starts_with('.') && std::ranges::any_of(kEndings, [name](std::string_view ending) {
    return name.ends_with(ending);
  });
}

Result<void> add_file(const std::string& path, Files& out) {
  MNET_TRY(auto&& text, sys::read_file(path, kMaxFile));
  out.push_back(std::make_shared<const lint::File>(lint::File{path, std::move(text)}));
  return {};
}

Result<void> add_directory(const std::string& path, Files& out, int depth_left) {
  if (depth_left == 0)
    return Error(Errc::kInvalid, cat(path, ": directories are nested too deeply"));
  MNET_TRY(auto&& entries, sys::list_directory(path));
  for (const sys::Entry& entry : entries) {
    const std::string below = cat(path, path.ends_with('/') ? "" : "/", entry.name);
    if (entry.kind == sys::EntryKind::kDirectory && !entry.name.starts_with('.')) {
      MNET_TRY_VOID(add_directory(below, out, depth_left - 1));
    } else if (entry.kind != sys::EntryKind::kDirectory && is_read(entry.name) &&
               !sys::is_directory(below)) {
      MNET_TRY_VOID(add_file(below, out));
    }
  }
  return {};
}

Result<Files> read_arguments(const std::vector<std::string>& arguments) {
  Files files;
  for (const std::string& argument : arguments) {
    if (argument == "-") {
      MNET_TRY(auto&& text, sys::read_all(STDIN_FILENO, "standard input", kMaxFile));
      files.push_back(std::make_shared<const lint::File>(lint::File{"stdin", std::move(text)}));
    } else if (sys::is_directory(argument)) {
      MNET_TRY_VOID(add_directory(argument, files, kMaxDepth));
    } else {
      MNET_TRY_VOID(add_file(argument, files));
    }
  }
  return files;
}

// Items of a list lack their kind.
void add_object(json::Object object, std::string_view kind, Files& out) {
  // A pod of a workload repeats what its template says.
  const auto* owners = json::find_at(object, {"metadata", "ownerReferences"});
  if (kind == "Pod" && !json::elements_of(owners).empty()) return;
  object.set("kind", kind);
  const std::string name =
      cat(to_lower(kind), "/", json::text_at(object, {"metadata", "namespace"}), "/",
          json::text_at(object, {"metadata", "name"}));
  out.push_back(std::make_shared<const lint::File>(
      lint::File{name, json::dump(object, {.indent = 2, .escape_html = false})}));
}

// `ns` empty: of all namespaces.
aio::Task<void> add_objects(Cluster* cluster, Workload what, std::string ns, Files* out) {
  return cluster->each(
      what.resource, std::move(ns), {.unused = kUnlinted},
      [kind = what.kind, out](json::Object object) { add_object(std::move(object), kind, *out); });
}

// Where the manifests put the daemon's configuration; without it lint takes the defaults.
aio::Task<void> add_daemon_config(Cluster* cluster, std::string daemon_ns, Files* out) {
  auto map = co_await cluster->get(kConfigMaps, std::move(daemon_ns), "multus-daemon-config");
  if (!map) co_return Result<void>();
  add_object(*std::move(map), "ConfigMap", *out);
  co_return Result<void>();
}

// `ns`: of the workloads.
aio::Task<Files> fetch_objects(Cluster* cluster, std::string daemon_ns, std::string ns,
                               bool with_workloads) {
  Files files;
  MNET_CO_TRY_VOID(
      co_await add_objects(cluster, {kDefinitions, "NetworkAttachmentDefinition"}, "", &files));
  MNET_CO_TRY_VOID(co_await add_daemon_config(cluster, std::move(daemon_ns), &files));
  if (!with_workloads) co_return files;
  for (const Workload& workload : kWorkloads) {
    const auto added = co_await add_objects(cluster, workload, ns, &files);
    if (!added && added.error().code() == Errc::kNotFound) continue;  // no KubeVirt here
    if (!added) co_return added.error();
  }
  co_return files;
}

Result<void> add_plugins(const std::string& directory, lint::Options& options) {
  MNET_TRY(auto&& entries, sys::list_directory(directory));
  auto& plugins = options.plugins.emplace();
  for (const sys::Entry& entry : entries) plugins.insert(entry.name);
  options.plugins_from = directory;
  return {};
}

void take_plugins(PluginNames plugins, lint::Options& options) {
  options.plugins = std::move(plugins);
  options.plugins_from = "binDir of any node";
}

aio::Task<PluginNames> fetch_plugins(Cluster* cluster, std::string daemon_ns) {
  MNET_CO_TRY(auto&& pods, co_await find_daemons(cluster, std::move(daemon_ns), {}));
  MNET_CO_TRY(const auto& nodes, co_await ask_daemons(cluster, std::move(pods), false));
  co_return plugins_of(nodes);
}

// Those of the nodes. Without them, or the right to ask, the rest is linted all the same.
void add_nodes_plugins(Cluster& cluster, std::string daemon_ns, lint::Options& options,
                       nodetools::Output& output) {
  auto plugins = aio::run(cluster.loop(), fetch_plugins(&cluster, std::move(daemon_ns)));
  if (!plugins) {
    output.complain("lint", cat("types are not compared with the plugins of the nodes: ",
                                plugins.error().text()));
    return;
  }
  take_plugins(*std::move(plugins), options);
}

struct Inputs {
  Files files;
  lint::Options options;
  std::size_t shown = 0;  // the first files, of which findings are shown
};

Result<Inputs> read_inputs(const Invocation& invocation, const Surroundings& surroundings) {
  Inputs inputs;
  MNET_TRY(auto&& files, read_arguments(invocation.arguments));
  inputs.files = std::move(files);
  inputs.shown = inputs.files.size();
  if (const std::string directory = invocation.text("node-bin-dir"); !directory.empty()) {
    MNET_TRY_VOID(add_plugins(directory, inputs.options));
  }
  if (const std::string ns = invocation.text("namespace"); !ns.empty()) inputs.options.ns = ns;
  if (!invocation.has("cluster")) return inputs;
  MNET_TRY(const auto cluster, Cluster::open(invocation, surroundings));
  inputs.options.ns = cluster->ns();
  const bool is_all = invocation.arguments.empty();
  MNET_TRY(auto&& fetched,
           aio::run(cluster->loop(), fetch_objects(cluster.get(), daemon_namespace(invocation),
                                                   invocation.text("namespace"), is_all)));
  for (lint::FilePtr& file : fetched) inputs.files.push_back(std::move(file));
  inputs.options.has_all_definitions = true;
  if (!inputs.options.plugins) {
    add_nodes_plugins(*cluster, daemon_namespace(invocation), inputs.options, surroundings.output);
  }
  if (is_all) inputs.shown = inputs.files.size();
  return inputs;
}

// Those of the cluster's objects are not the user's question if the user named files.
void keep_shown(const Inputs& inputs, std::vector<lint::Finding>& findings) {
  std::erase_if(findings, [&inputs](const lint::Finding& finding) {
    const auto shown = inputs.files.begin() + static_cast<std::ptrdiff_t>(inputs.shown);
    return std::none_of(inputs.files.begin(), shown, [&finding](const lint::FilePtr& file) {
      return file->name == finding.spot.file;
    });
  });
}

}  // namespace

Result<std::vector<lint::Finding>> lint_cluster(const Invocation& invocation,
                                                const Surroundings& surroundings,
                                                const std::vector<NodeStatus>& nodes) {
  MNET_TRY(const auto cluster, Cluster::open(invocation, surroundings));
  MNET_TRY(const auto& files,
           aio::run(cluster->loop(),
                    fetch_objects(cluster.get(), daemon_namespace(invocation), "", true)));
  lint::Options options;
  options.has_all_definitions = true;
  if (auto plugins = plugins_of(nodes); plugins && !nodes.empty()) {
    take_plugins(*std::move(plugins), options);
  }
  return lint::lint(files, options);
}

int run_lint(const Invocation& invocation, Surroundings& surroundings) {
  nodetools::Output& output = surroundings.output;
  if (invocation.arguments.empty() && !invocation.has("cluster")) {
    output.complain("lint", "name files or directories, - for standard input, or --cluster");
    return 2;
  }
  const auto inputs = read_inputs(invocation, surroundings);
  if (!inputs) {
    output.complain("lint", inputs.error().text());
    return 1;
  }
  std::vector<lint::Finding> findings = lint::lint(inputs->files, inputs->options);
  keep_shown(*inputs, findings);
  const std::string format = invocation.text("output");
  if (format == "json") {
    (void)print_value(lint::to_json(findings), invocation, surroundings);
  } else if (format == "github" && !findings.empty()) {
    output.print(lint::to_github(findings));
  } else if (!findings.empty()) {
    output.print_coloured(lint::to_text(findings, wants_colour(surroundings)));
  }
  const lint::Counts counts = lint::count(findings);
  return counts.errors > 0 || (invocation.has("strict") && counts.warnings > 0) ? 1 : 0;
}

}  // namespace mnet::multusctl
