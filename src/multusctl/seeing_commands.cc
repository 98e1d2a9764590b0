#include <array>
#include <span>
#include <string_view>

#include "multusctl/command_tables.h"
#include "multusctl/commands.h"
#include "multusctl/doctor_command.h"
#include "multusctl/explain_command.h"
#include "multusctl/lint_command.h"
#include "multusctl/pods_command.h"
#include "multusctl/status_command.h"

namespace mnet::multusctl {
namespace {

using namespace std::string_view_literals;

constexpr std::array kLintFlags = {"output"sv, "strict"sv, "node-bin-dir"sv, "cluster"sv,
                                   "namespace"sv};
constexpr std::array kLintOutputs = {"json"sv, "github"sv};
constexpr std::array kLintExamples = {"lint nad.yaml"sv, "lint --strict -o github manifests/"sv,
                                      "lint --node-bin-dir /opt/cni/bin /etc/cni/net.d"sv,
                                      "lint --cluster"sv};
constexpr std::array kTableFlags = {"namespace"sv, "all-namespaces"sv, "output"sv, "no-headers"sv};
constexpr std::array kTableOutputs = {"wide"sv, "json"sv, "yaml"sv};
constexpr std::array kStatusFlags = {"output"sv, "no-headers"sv, "socket"sv, "namespace"sv,
                                     "this-node"sv};
constexpr std::array kStatusExamples = {"status"sv, "status -o wide"sv, "status node-7"sv};
constexpr std::array kPodsExamples = {"pods"sv, "pods -A"sv, "pods -n storage web-0 -o yaml"sv};
constexpr std::array kExplainFlags = {"filename"sv, "namespace"sv, "output"sv, "daemon-config"sv};
constexpr std::array kExplainOutputs = {"json"sv, "yaml"sv};
constexpr std::array kDoctorFlags = {"namespace"sv, "output"sv, "check-pods"sv, "this-node"sv,
                                     "socket"sv};
constexpr std::array kDoctorExamples = {"doctor"sv, "doctor -n kube-system --check-pods"sv};
constexpr std::array kExplainExamples = {"explain web-0"sv, "explain -f pod.yaml"sv};

constexpr std::array kCommands = {
    Command{.name = "lint",
            .arguments = "[FILE|DIR|-]...",
            .summary = "find mistakes in definitions, pods and configurations",
            .description =
                "Reads network definitions, pods and workload templates (Deployment, StatefulSet, "
                "DaemonSet, Job, CronJob, KubeVirt's VirtualMachine), daemon-config.json, alone or "
                "in a ConfigMap, and CNI configuration files, with the parsers that the daemon "
                "uses. Prints file, line and column, what is wrong and a code; docs/lint.md "
                "explains each code. A directory stands for the *.yaml, *.yml, *.json, *.conf and "
                "*.conflist files in it, at any depth.\n\n"
                "The exit status is 1 if there are errors; with --strict, warnings count, too.",
            .flags = kLintFlags,
            .outputs = kLintOutputs,
            .examples = kLintExamples,
            .run = run_lint},
    Command{.name = "status",
            .arguments = "[NODE]...",
            .summary = "show how the daemons are, node by node",
            .description =
                "Version, whether the daemon is ready or why not, the primary configuration, "
                "requests and delegates (running+waiting), containers with records, pending DELs, "
                "and pods that were started without their networks (missed). What is wrong is told "
                "below the table.\n\n"
                "On a node, as root, the daemon's socket is asked. From outside (no socket, or "
                "--kubeconfig, --context, -n or NODE is given) each daemon is asked by an exec in "
                "its pod, 16 at once; a node that does not answer is a row with its reason. The "
                "pods are those with the label app=multus in kube-system, or in the namespace that "
                "-n names. Needs the rights to list pods and nodes, and to get (from Kubernetes "
                "1.35 on also to create) pods/exec.",
            .flags = kStatusFlags,
            .outputs = kTableOutputs,
            .examples = kStatusExamples,
            .run = run_status},
    Command{.name = "pods",
            .arguments = "[POD]...",
            .summary = "show which networks pods asked for and got",
            .description =
                "One line for each network of a pod, from the API alone: what the annotations ask "
                "for against the network status. What differs is explained below the table, or in "
                "it with -o wide. States: ok; not-asked (of defaultNetworks or hot-plug); pending; "
                "not-attached; no-status; no-definition; other-address; other-mac; host-network; "
                "bad-annotation; bad-status.\n\n"
                "Needs the rights to list (of one pod: get) pods and to list "
                "network-attachment-definitions.",
            .flags = kTableFlags,
            .outputs = kTableOutputs,
            .examples = kPodsExamples,
            .run = run_pods},
    Command{
        .name = "doctor",
        .arguments = "",
        .summary = "check the parts of Multus in the cluster, or on this node",
        .description =
            "From outside: the definition of networks (CRD), the rights of the daemon's account, "
            "admission that is in the way, a daemon that is well on every node, equal versions, "
            "and on each node, by an exec, the checks of `multus-daemon -check`. On a node, as "
            "root (or with --this-node): that node alone; -n, --context or --kubeconfig mean the "
            "cluster. --check-pods also runs CHECK for everything that is attached.\n\n"
            "Each line is good (✓), bad (✗) with what to do, odd (!), or not to be told (?). The "
            "exit status is 1 if one is bad. Nothing is changed.\n\n"
            "Needs the rights of status, to get namespaces and customresourcedefinitions, to "
            "create subjectaccessreviews, and to patch pods/status for a dry run; without one of "
            "them its line is a question mark.",
        .flags = kDoctorFlags,
        .outputs = kExplainOutputs,
        .examples = kDoctorExamples,
        .run = run_doctor},
    Command{.name = "explain",
            .arguments = "POD | -f FILE",
            .summary = "show what would be attached to a pod, and why",
            .description =
                "Runs the daemon's resolver and planner for a pod of the cluster, or for one of a "
                "file (with its definitions, if they are in it), and attaches nothing: each "
                "network's interface, source, plugins, batch, default routes, runtimeConfig and "
                "configuration after merging, without secrets. The errors are those that ADD would "
                "give.\n\n"
                "On a node the daemon's files are read. From outside, the daemon on the pod's node "
                "is asked by an exec; without that the cluster network is not known, and that is "
                "said. Needs the rights to get pods and to list network-attachment-definitions, "
                "and for the exec those of status.",
            .flags = kExplainFlags,
            .outputs = kExplainOutputs,
            .examples = kExplainExamples,
            .run = run_explain},
};

}  // namespace

std::span<const Command> seeing_commands() { return kCommands; }

}  // namespace mnet::multusctl
