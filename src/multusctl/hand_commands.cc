#include <array>
#include <span>
#include <string_view>

#include "multusctl/command_tables.h"
#include "multusctl/commands.h"
#include "multusctl/run_commands.h"

namespace mnet::multusctl {
namespace {

using namespace std::string_view_literals;

constexpr std::array kActions = {"list"sv, "retry"sv, "drop"sv};
constexpr auto kPendingFlags =
    joined(std::array{"yes"sv, "node"sv, "output"sv, "no-headers"sv}, kDaemonFlags);
constexpr std::array kPendingExamples = {"pending"sv, "pending retry 1f0c"sv,
                                         "pending drop 1f0c --node node-7"sv};
constexpr auto kGcFlags = joined(std::array{"dry-run"sv}, kPendingFlags);
constexpr std::array kGcExamples = {"gc --dry-run"sv, "gc --node node-7"sv};
constexpr std::array kAttachFlags = {"interface"sv, "yes"sv, "timeout"sv, "namespace"sv};
constexpr std::array kAttachExamples = {"attach web-0 storage"sv,
                                        "attach web-0 infra/storage --interface data0"sv};
constexpr std::array kDetachExamples = {"detach web-0 storage"sv,
                                        "detach web-0 storage --interface data0"sv};
constexpr Flag kStatusTimeout{"timeout", 0, "SECONDS",
                              "how long to wait for the network status; default: 60"};
constexpr std::array kAttachMeanings = {
    Flag{"interface", 0, "NAME",
         "the interface in the pod; default: the first free one of net1, net2, ..."},
    kStatusTimeout};
constexpr std::array kDetachMeanings = {
    Flag{"interface", 0, "NAME",
         "the interface in the pod; needed if the pod has the network more than once"},
    kStatusTimeout};
constexpr std::array kTestMeanings = {
    Flag{"namespace", 'n', "NAME", "the namespace of the pods; default: that of the network"},
    Flag{"timeout", 0, "SECONDS", "how long to wait for the pods; default: 120"}};
constexpr std::array kProbeMeanings = {
    Flag{"interface", 0, "NAME", "the interface to send from"},
    Flag{"timeout", 0, "SECONDS", "how long to wait for each answer; default: 1"}};
constexpr std::array kTestFlags = {
    "network"sv, "timeout"sv, "yes"sv, "image"sv, "output"sv, "namespace"sv, "daemon-namespace"sv};
constexpr std::array kTestExamples = {"test"sv, "test --network default/storage node-1 node-2"sv};
constexpr std::array kProbeFlags = {"to"sv, "interface"sv, "port"sv, "timeout"sv, "output"sv};
constexpr std::array kProbeExamples = {"probe"sv, "probe --to 10.1.0.5 --interface net1"sv};
constexpr std::array kReportFlags = {"output"sv, "namespace"sv, "check-pods"sv};
constexpr std::array kReportExamples = {"report -o report.html"sv};
constexpr auto kBundleFlags = joined(std::array{"output"sv, "yes"sv}, kDaemonFlags);
constexpr std::array kBundleExamples = {"bundle -o multus.tgz"sv};
constexpr std::string_view kOutputFile = "the file to write; -: standard output";

constexpr std::array kCommands = {
    Command{
        .name = "pending",
        .arguments = "[list | retry [ID] | drop ID]",
        .summary = "show, retry or give up DELs that have not succeeded",
        .description =
            "A pending DEL is one that failed or reached no daemon; the daemon retries it until it "
            "succeeds, or for ten minutes if its ADD had failed, too. `list` shows how the last "
            "attempt of each ended. `retry` runs one, or all, "
            "now. `drop` gives one up: no plugin runs, what its plugins hold (addresses, links) "
            "stays until it is freed by hand, and the daemon removes its records. An ID may be "
            "shortened as long as only one pending DEL begins with it.\n\n"
            "On a node, as root, it asks the daemon over its socket; from outside, each daemon by "
            "an exec in its pod. Needs the rights of `status`.",
        .flags = kPendingFlags,
        .outputs = kTableOutputs,
        .examples = kPendingExamples,
        .choices = kActions,
        .meanings = kDaemonMeanings,
        .run = run_pending},
    Command{
        .name = "gc",
        .arguments = "",
        .summary = "delete the networks of containers that are gone, now",
        .description =
            "Runs the daemon's own reconcile, which otherwise runs every ten minutes, with its "
            "rules: a container counts as gone once both its namespace and its pod have been gone "
            "for `reconcileGrace`. With --dry-run nothing is changed. Actions: watch (gone, but "
            "not for long enough), finish (an ADD or DEL that was cut off), drop (given up by "
            "hand: the records are removed), report (gone, but a person must look), delete.\n\n"
            "Asks the daemons as `pending` does.",
        .flags = kGcFlags,
        .outputs = kTableOutputs,
        .examples = kGcExamples,
        .meanings = kDaemonMeanings,
        .run = run_gc},
    Command{.name = "attach",
            .arguments = "POD NETWORK",
            .summary = "attach one more network to a running pod",
            .description =
                "Adds the network to the pod's annotation k8s.v1.cni.cncf.io/networks and waits "
                "until the network status shows it. The daemon on the pod's node must apply the "
                "annotations of running pods (`hotplug` in its configuration); if it does not, the "
                "command gives up after --timeout and restores the annotation.\n\n"
                "Needs the rights to get and patch pods and to get network-attachment-definitions.",
            .flags = kAttachFlags,
            .examples = kAttachExamples,
            .meanings = kAttachMeanings,
            .run = run_attach},
    Command{
        .name = "detach",
        .arguments = "POD NETWORK",
        .summary = "remove a network from a running pod",
        .description =
            "Takes the network out of the pod's annotation and waits until the network status no "
            "longer shows it. --interface says which one if the pod has it more than once.\n\n"
            "Needs the rights to get and patch pods.",
        .flags = kAttachFlags,
        .examples = kDetachExamples,
        .meanings = kDetachMeanings,
        .run = run_detach},
    Command{.name = "test",
            .arguments = "[NODE]...",
            .summary = "test a network between pods on all nodes",
            .description =
                "Starts two pods on each node, or on the named ones, from the daemon's own image, "
                "with the network of --network, and lets each send to all others: whether they "
                "answer, the round trip, whether packets as large as the interface allows arrive, "
                "and whether an address is used twice. Then it deletes the pods, also after "
                "Ctrl-C. Pods of an earlier run that was killed are deleted first, and end by "
                "themselves after ten minutes.\n\n"
                "Needs the rights of `status`, and in the namespace of the network (or that of -n) "
                "to create, get, list and delete pods and to exec in them.",
            .flags = kTestFlags,
            .outputs = kValueOutputs,
            .examples = kTestExamples,
            .meanings = kTestMeanings,
            .run = run_test},
    Command{.name = "probe",
            .arguments = "",
            .summary = "send and answer the packets of `test`",
            .description =
                "Without --to: answers UDP packets until it is stopped. With --to: sends to each "
                "address, small packets and ones as large as the interface allows, and asks by ARP "
                "which stations use the interface's own addresses. `test` runs it in its pods.",
            .flags = kProbeFlags,
            .outputs = kValueOutputs,
            .examples = kProbeExamples,
            .meanings = kProbeMeanings,
            .run = run_probe},
    Command{.name = "report",
            .arguments = "",
            .summary = "write an HTML page that shows the state of the cluster",
            .description =
                "One self-contained file: a picture of nodes, networks and pods, what pods "
                "asked for and got, and what `doctor` and `lint --cluster` found. Needs the "
                "rights of these commands; the page says what could not be read.",
            .flags = kReportFlags,
            .examples = kReportExamples,
            .output_file = kOutputFile,
            .meanings = kDaemonMeanings,
            .run = run_report},
    Command{.name = "bundle",
            .arguments = "",
            .summary = "collect what a maintainer needs to see",
            .description =
                "Writes an archive (tar, gzip): status, doctor, lint, pods, the report, the "
                "daemons' logs, definitions, the daemon's configuration, events and certificate "
                "requests, and from each node its configurations, records, pending DELs and "
                "metrics. Secrets are removed by the same code as from logs. CONTENTS lists what "
                "is in it and what could not be read. At most 64 MiB before compression. Look "
                "through it before you send it: it contains names and addresses.",
            .flags = kBundleFlags,
            .examples = kBundleExamples,
            .output_file = kOutputFile,
            .meanings = kDaemonMeanings,
            .run = run_bundle},
};

}  // namespace

std::span<const Command> hand_commands() { return kCommands; }

}  // namespace mnet::multusctl
