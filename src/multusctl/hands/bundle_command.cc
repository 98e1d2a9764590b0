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
#include "base/version.h"
#include "json/json.h"
#include "lint/report.h"
#include "multusctl/cluster.h"
#include "multusctl/commands.h"
#include "multusctl/daemons.h"
#include "multusctl/doctor.h"
#include "multusctl/hands/agreement.h"
#include "multusctl/hands/archive.h"
#include "multusctl/hands/node_files.h"
#include "multusctl/invocation.h"
#include "multusctl/node_socket.h"
#include "multusctl/node_status.h"
#include "multusctl/pods_command.h"
#include "multusctl/print.h"
#include "multusctl/report/report_command.h"
#include "multusctl/report/report_page.h"
#include "multusctl/run_commands.h"

namespace mnet::multusctl {
namespace {

constexpr std::chrono::seconds kPatienceOfNode{90};
constexpr int kLogLines = 5000;
constexpr Resource kEvents{"", "v1", "events"};
constexpr Resource kCsrs{"certificates.k8s.io", "v1", "certificatesigningrequests"};

struct Listing {
  std::string_view name;
  Resource resource;
  std::string_view query;
};
constexpr Listing kListings[] = {{"definitions.json", kDefinitions, ""},
                                 {"nodes.json", kNodes, ""},
                                 {"events.json", kEvents, "fieldSelector=type%3DWarning"},
                                 {"certificatesigningrequests.json", kCsrs, ""}};

class ClusterFiles {
 public:
  ClusterFiles(Cluster& cluster, std::string daemon_ns, bool shows_progress)
      : cluster_(cluster), ns_(std::move(daemon_ns)), shows_progress_(shows_progress) {}

  aio::Task<void> run(Collected* out) {
    for (const Listing& one : kListings) {
      const auto objects = co_await cluster_.list(one.resource, "", std::string(one.query));
      if (objects) {
        out->add_list(std::string(one.name), *objects);
      } else {
        miss(out, one.name, objects.error());
      }
    }
    const auto map = co_await cluster_.get(kConfigMaps, ns_, "multus-daemon-config");
    if (map) out->add("daemon-configmap.json", json::dump(*map));
    if (!map) miss(out, "daemon-configmap.json", map.error());
    auto daemons = co_await find_daemons(&cluster_, ns_, {});
    if (!daemons) {
      miss(out, "the daemons", daemons.error());
      co_return Result<void>();
    }
    for (const DaemonPod& daemon : *daemons) {
      if (daemon.name.empty()) continue;
      const auto log = co_await cluster_.log(daemon.ns, daemon.name, daemon.container, kLogLines);
      const std::string name = cat("logs/", daemon.node, ".log");
      if (log) out->add(name, *log);
      if (!log) miss(out, name, log.error());
    }
    co_return co_await add_nodes(*std::move(daemons), out);
  }

 private:
  static void miss(Collected* out, std::string_view what, const Error& why) {
    out->missing.push_back(cat(what, ": ", excerpt(why.text(), 300)));
  }

  aio::Task<void> add_nodes(std::vector<DaemonPod> daemons, Collected* out) {
    std::vector<std::string> command = {
        std::string(kInPod), "bundle", "--this-node", "--yes", "-o", "json"};
    MNET_CO_TRY(const auto& answers, co_await run_on_nodes(&cluster_, std::move(daemons),
                                                           {.command = std::move(command),
                                                            .patience = kPatienceOfNode,
                                                            .shows_progress = shows_progress_}));
    for (const NodeAnswer& one : answers) {
      if (!one.answer) {
        miss(out, cat("nodes/", one.node), one.answer.error());
        continue;
      }
      const Collected node = parse_collected(*one.answer);
      for (const ArchivedFile& file : node.files) {
        out->add(cat("nodes/", one.node, "/", file.name), file.text);
      }
      for (const std::string& missing : node.missing) {
        out->missing.push_back(cat("nodes/", one.node, "/", missing));
      }
    }
    co_return Result<void>();
  }

  Cluster& cluster_;
  const std::string ns_;
  const bool shows_progress_;
};

Result<Collected> collect_cluster(const Invocation& invocation, const Surroundings& surroundings) {
  Collected out;
  MNET_TRY(const auto cluster, Cluster::open(invocation, surroundings));
  MNET_TRY(const auto& report, gather_report(invocation, surroundings));
  out.add("report.html", report_page(report));
  out.add("doctor.json", json::dump(to_json(report.checks)));
  out.add("status.json", json::dump(to_json(report.nodes)));
  out.add("pods.json", json::dump(to_json(report.pods)));
  out.add("lint.json", json::dump(lint::to_json(report.findings)));
  for (const std::string& unread : report.unread) out.missing.push_back(unread);
  ClusterFiles files(*cluster, daemon_namespace(invocation), surroundings.shows_progress);
  MNET_TRY_VOID(aio::run(cluster->loop(), files.run(&out)));
  return out;
}

// The first file of the archive.
std::string contents_of(const Collected& collected) {
  std::string out = cat("A bundle of multusctl ", build_version().version,
                        ". Secrets were removed; names and addresses were not.\n\n");
  for (const ArchivedFile& file : collected.files) {
    out += cat(excerpt(file.name, kWhole), "  ", file.text.size(), " bytes\n");
  }
  if (!collected.missing.empty()) out += "\nNot in it:\n";
  for (const std::string& missing : collected.missing) out += cat(excerpt(missing, kWhole), "\n");
  return out;
}

Result<int> make_bundle(const Invocation& invocation, Surroundings& surroundings) {
  const bool is_node = is_about_this_node(invocation);
  const std::string path = invocation.text("output");
  const std::string plan =
      cat("Reads the daemons, their logs and configurations, definitions, pods, events and "
          "certificate requests of ",
          is_node ? "this node" : "the cluster", " and writes them, without secrets, to ", path,
          ". Nothing else is changed.\n");
  if (!agrees(invocation, surroundings, plan)) return 2;
  auto collected = is_node ? Result<Collected>(collect_node(invocation, surroundings))
                           : collect_cluster(invocation, surroundings);
  if (!collected) return collected.error();
  if (is_node && path == "json") {
    surroundings.output.print(printable_json(json::dump(to_json(*collected))));
    return 0;
  }
  std::string contents = contents_of(*collected);
  collected->files.insert(collected->files.begin(),
                          {.name = "CONTENTS", .text = std::move(contents)});
  MNET_TRY(const auto& archive, make_archive(collected->files, std::chrono::system_clock::now()));
  MNET_TRY_VOID(write_output(invocation, archive));
  if (path != "-") {
    surroundings.output.print(cat(path, ": ", collected->files.size(), " files, ", archive.size(),
                                  " bytes; CONTENTS in it lists them. Look at it before you send "
                                  "it."));
  }
  for (const std::string& missing : collected->missing) {
    surroundings.output.complain("bundle", missing);
  }
  return 0;
}

}  // namespace

int run_bundle(const Invocation& invocation, Surroundings& surroundings) {
  if (invocation.text("output").empty()) {
    surroundings.output.complain("bundle", "name the output file with -o");
    return 2;
  }
  const auto done = make_bundle(invocation, surroundings);
  return exit_status(done, invocation, surroundings);
}

}  // namespace mnet::multusctl
