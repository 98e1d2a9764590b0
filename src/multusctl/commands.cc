#include "multusctl/commands.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "multusctl/about.h"
#include "multusctl/doctor_command.h"
#include "multusctl/explain_command.h"
#include "multusctl/lint_command.h"
#include "multusctl/pods_command.h"
#include "multusctl/status_command.h"

namespace mnet::multusctl {
namespace {

using namespace std::string_view_literals;

constexpr std::array kGlobal = {"help"sv, "kubeconfig"sv, "context"sv};

constexpr std::array kFlags = {
    Flag{"help", 'h', {}, "show this help"},
    Flag{"kubeconfig", 0, "FILE",
         "the kubeconfig to use; otherwise $KUBECONFIG, ~/.kube/config or the pod's account"},
    Flag{"context", 0, "NAME", "the context of the kubeconfig to use"},
    Flag{"namespace", 'n', "NAME", "the namespace; otherwise the context's"},
    Flag{"all-namespaces", 'A', {}, "all namespaces"},
    Flag{"output", 'o', "FORMAT", "how to print"},
    Flag{"filename", 'f', "FILE",
         "a manifest with one pod, and its definitions; -: standard input"},
    Flag{"daemon-config", 0, "FILE", "the daemon's configuration on this node"},
    Flag{"no-headers", 0, {}, "print no header line"},
    Flag{"socket", 0, "PATH",
         "the daemon's socket; otherwise /run/multus/multus.sock, below /host if it is there"},
    Flag{"strict", 0, {}, "let warnings fail, too"},
    Flag{"node-bin-dir", 0, "DIR",
         "a node's plugin directory: a type that is not in it is an error"},
    Flag{"cluster",
         0,
         {},
         "also read the cluster's definitions; without FILE its pods and workloads, too"},
};

constexpr std::array kLintFlags = {"output"sv, "strict"sv, "node-bin-dir"sv, "cluster"sv,
                                   "namespace"sv};
constexpr std::array kLintOutputs = {"json"sv, "github"sv};
constexpr std::array kLintExamples = {"lint nad.yaml"sv, "lint --strict -o github manifests/"sv,
                                      "lint --node-bin-dir /opt/cni/bin /etc/cni/net.d"sv,
                                      "lint --cluster"sv};
constexpr std::array kTableFlags = {"namespace"sv, "all-namespaces"sv, "output"sv, "no-headers"sv};
constexpr std::array kTableOutputs = {"wide"sv, "json"sv, "yaml"sv};
constexpr std::array kStatusFlags = {"output"sv, "no-headers"sv, "socket"sv, "namespace"sv};
constexpr std::array kStatusExamples = {"status"sv, "status -o wide"sv, "status node-7"sv};
constexpr std::array kPodsExamples = {"pods"sv, "pods -A"sv, "pods -n storage web-0 -o yaml"sv};
constexpr std::array kExplainFlags = {"filename"sv, "namespace"sv, "output"sv, "daemon-config"sv};
constexpr std::array kExplainOutputs = {"json"sv, "yaml"sv};
constexpr std::array kDoctorFlags = {"namespace"sv, "output"sv};
constexpr std::array kExplainExamples = {"explain web-0"sv, "explain -f pod.yaml"sv};
constexpr std::array kShells = {"bash"sv, "zsh"sv, "fish"sv};
constexpr std::array kCompletionExamples = {"completion bash > /etc/bash_completion.d/multusctl"sv};
constexpr std::array kVersionOutputs = {"json"sv, "yaml"sv};
constexpr std::array kOutputFlag = {"output"sv};
constexpr std::array kManExamples = {"man | man -l -"sv};

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
        .summary = "check the parts of Multus in the cluster",
        .description =
            "The definition of networks (CRD), the rights of the daemon's account, a daemon that "
            "is well on every node, and equal versions. Each line is good (✓), bad (✗) with what "
            "to do, or not to be told (?). The exit status is 1 if one is bad.\n\n"
            "Needs the rights of status, to get customresourcedefinitions and to create "
            "subjectaccessreviews; without one of them its line is a question mark.",
        .flags = kDoctorFlags,
        .outputs = kExplainOutputs,
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
    Command{.name = "completion",
            .arguments = "SHELL",
            .summary = "print the completion script of a shell",
            .description = "SHELL is bash, zsh or fish.",
            .flags = {},
            .examples = kCompletionExamples,
            .choices = kShells,
            .run = run_completion},
    Command{.name = "man",
            .arguments = "",
            .summary = "print the manual page",
            .description = "In the format of man(7).",
            .flags = {},
            .examples = kManExamples,
            .run = run_man},
    Command{.name = "version",
            .arguments = "",
            .summary = "print the version",
            .description = "",
            .flags = kOutputFlag,
            .outputs = kVersionOutputs,
            .run = run_version},
};

}  // namespace

std::span<const Command> all_commands() { return kCommands; }

const Command* find_command(std::string_view name) {
  const auto* found = std::ranges::find(kCommands, name, &Command::name);
  return found == kCommands.end() ? nullptr : found;
}

std::span<const Flag> all_flags() { return kFlags; }

const Flag& flag_of(std::string_view name) { return *std::ranges::find(kFlags, name, &Flag::name); }

bool is_global(std::string_view flag) { return std::ranges::find(kGlobal, flag) != kGlobal.end(); }

}  // namespace mnet::multusctl
