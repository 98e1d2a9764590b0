#include <array>
#include <span>
#include <string_view>

#include "multusctl/command_tables.h"
#include "multusctl/commands.h"
#include "multusctl/run_commands.h"

namespace mnet::multusctl {
namespace {

using namespace std::string_view_literals;

constexpr std::array kLintFlags = {"output"sv,  "strict"sv,    "node-bin-dir"sv,
                                   "cluster"sv, "namespace"sv, "daemon-namespace"sv};
constexpr std::array kLintMeanings = {Flag{
    "namespace", 'n', "NAME",
    "the namespace of what a FILE has without one; without FILE, of the workloads that are read"}};
constexpr std::array kLintOutputs = {"json"sv, "github"sv};
constexpr std::array kLintExamples = {"lint nad.yaml"sv, "lint --strict -o github manifests/"sv,
                                      "lint --node-bin-dir /opt/cni/bin /etc/cni/net.d"sv,
                                      "lint --cluster"sv};
constexpr auto kStatusFlags = joined(std::array{"output"sv, "no-headers"sv}, kDaemonFlags);
constexpr std::array kStatusExamples = {"status"sv, "status -o wide"sv, "status node-7"sv};
constexpr std::array kPodsFlags = {"namespace"sv, "all-namespaces"sv, "output"sv, "no-headers"sv};
constexpr std::array kPodsExamples = {"pods"sv, "pods -A"sv, "pods -n storage web-0 -o yaml"sv};
constexpr auto kDoctorFlags = joined(std::array{"output"sv, "check-pods"sv}, kDaemonFlags);
constexpr std::array kDoctorExamples = {"doctor"sv, "doctor -n kube-system --check-pods"sv};
constexpr std::array kExplainFlags = {"filename"sv, "namespace"sv, "output"sv, "daemon-config"sv,
                                      "daemon-namespace"sv};
constexpr std::array kExplainExamples = {"explain web-0"sv, "explain -f pod.yaml"sv};

constexpr std::array kCommands = {
    Command{
        .name = "lint",
        .arguments = "[FILE|DIR|-]...",
        .summary = "find mistakes in definitions, pods and configurations",
        .description =
            "Reads network definitions, pods and workload templates (Deployment, StatefulSet, "
            "DaemonSet, Job, CronJob, KubeVirt's VirtualMachine), daemon-config.json with its "
            "fragments (daemon-config.d/*.json), alone or in a ConfigMap, and CNI configuration "
            "files, with the parsers that the daemon uses. Prints file, line and column, what is "
            "wrong and a code; docs/lint.md explains each code. A directory stands for all *.yaml, "
            "*.yml, *.json, *.conf and *.conflist files below it.\n\n"
            "The exit status is 1 if there are errors or, with --strict, warnings.",
        .flags = kLintFlags,
        .outputs = kLintOutputs,
        .examples = kLintExamples,
        .meanings = kLintMeanings,
        .run = run_lint},
    Command{
        .name = "status",
        .arguments = "[NODE]...",
        .summary = "show the state of the daemons, node by node",
        .description =
            "Version, whether the daemon is ready, the primary configuration, requests and "
            "delegates (running+waiting), containers with records, pending DELs, and pods that "
            "were started without their networks (missed). Problems are listed below the table.\n\n"
            "On a node, as root, it asks the daemon over its socket. From outside (there is no "
            "socket, or --kubeconfig, --context, -n or NODE is given) it asks each daemon by an "
            "exec in its pod, 16 at a time; a node that does not answer is a row with the reason. "
            "The daemons' pods are those labelled app=multus in kube-system, or in the namespace "
            "of -n. Needs the rights to list pods and nodes and to get (since Kubernetes 1.35 also "
            "to create) pods/exec.",
        .flags = kStatusFlags,
        .outputs = kTableOutputs,
        .examples = kStatusExamples,
        .meanings = kDaemonMeanings,
        .run = run_status},
    Command{.name = "pods",
            .arguments = "[POD]...",
            .summary = "show the networks that pods asked for and got",
            .description =
                "One line for each network of a pod, from the API alone: what the annotations ask "
                "for, compared with the network status. Differences are explained below the table, "
                "or in it with -o wide. States: ok; not-asked (of defaultNetworks or hot-plug); "
                "pending; not-attached; no-status; no-definition; other-address; other-mac; "
                "host-network; bad-annotation; bad-status.\n\n"
                "Needs the rights to list pods (with POD: to get them) and to list "
                "network-attachment-definitions.",
            .flags = kPodsFlags,
            .outputs = kTableOutputs,
            .examples = kPodsExamples,
            .run = run_pods},
    Command{
        .name = "doctor",
        .arguments = "",
        .summary = "check Multus in the cluster, or on this node",
        .description =
            "From outside: the CRD of network definitions, the rights of the daemon's account, "
            "admission that blocks it, the versions of the daemons, and on each node, by an exec, "
            "the state of the daemon and the checks of `multus-daemon -check`. On a node, as root "
            "(or with --this-node), only that node; -n, --context or --kubeconfig mean the "
            "cluster. --check-pods also runs CHECK for every attachment.\n\n"
            "Each line has passed (✓), has failed (✗) with what to do, is a warning (!), or could "
            "not be checked (?). The exit status is 1 if one has failed. Nothing is changed.\n\n"
            "Needs the rights of `status`, to get namespaces and customresourcedefinitions, to "
            "create subjectaccessreviews, and to patch pods/status for a dry run; a line whose "
            "right is missing could not be checked.",
        .flags = kDoctorFlags,
        .outputs = kValueOutputs,
        .examples = kDoctorExamples,
        .meanings = kDaemonMeanings,
        .run = run_doctor},
    Command{
        .name = "explain",
        .arguments = "POD | -f FILE",
        .summary = "show what would be attached to a pod, and why",
        .description =
            "Runs the daemon's resolver and planner for a pod of the cluster, or for the pod in a "
            "file (with its definitions, if the file has them), and attaches nothing. Shows each "
            "network's interface, source, plugins, batch, default routes, whether namespace "
            "isolation "
            "allows it, runtimeConfig and merged configuration, without secrets. Errors are the "
            "ones that ADD would return.\n\n"
            "On a node it reads the daemon's files. From outside it asks the daemon on the pod's "
            "node by an exec; if that fails, the cluster network is not known, and the output says "
            "so. Needs the rights to get pods and to list network-attachment-definitions, and for "
            "the exec those of `status`.",
        .flags = kExplainFlags,
        .outputs = kValueOutputs,
        .examples = kExplainExamples,
        .run = run_explain},
};

}  // namespace

std::span<const Command> seeing_commands() { return kCommands; }

}  // namespace mnet::multusctl
