#include "multusctl/commands.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "multusctl/command_tables.h"

namespace mnet::multusctl {
namespace {

using namespace std::string_view_literals;

constexpr std::array kGlobal = {"help"sv, "kubeconfig"sv, "context"sv};

constexpr std::array kFlags = {
    Flag{"help", 'h', {}, "show this help"},
    Flag{"kubeconfig", 0, "FILE",
         "the kubeconfig file; default: $KUBECONFIG, ~/.kube/config or the pod's service account"},
    Flag{"context", 0, "NAME", "the context in the kubeconfig; default: the current one"},
    Flag{"namespace", 'n', "NAME", "the namespace; default: that of the context"},
    Flag{"all-namespaces", 'A', {}, "all namespaces"},
    Flag{"output", 'o', "FORMAT", "the output format"},
    Flag{"filename", 'f', "FILE",
         "a manifest with one pod and, optionally, its definitions; -: standard input"},
    Flag{"daemon-config", 0, "FILE", "the daemon's configuration on this node"},
    Flag{"daemon-namespace", 0, "NAME", "the namespace of the daemons; default: kube-system"},
    Flag{"no-headers", 0, {}, "leave out the header line"},
    Flag{"socket", 0, "PATH",
         "the daemon's socket; default: /run/multus/multus.sock, or /host/run/multus/multus.sock"},
    Flag{"strict", 0, {}, "treat warnings as errors"},
    Flag{"node-bin-dir", 0, "DIR",
         "the plugin directory of a node: a type that is not in it is an error"},
    Flag{"cluster",
         0,
         {},
         "also read the cluster's definitions; without FILE, also its pods and workloads"},
    Flag{"this-node", 0, {}, "ask only the daemon on this machine, never a cluster"},
    Flag{"node", 0, "NAME", "the node whose daemon to ask; default: all nodes"},
    Flag{"check-pods", 0, {}, "also run CHECK for every attachment; changes nothing"},
    Flag{"yes", 'y', {}, "do not ask for confirmation"},
    Flag{"dry-run", 0, {}, "show what would be done without doing it"},
    Flag{"interface", 0, "NAME", "the interface in the pod"},
    Flag{"timeout", 0, "SECONDS", "how long to wait"},
    Flag{"network", 0, "NAME", "the network, NAMESPACE/NAME or NAME; default: the cluster network"},
    Flag{"image", 0, "NAME", "the image of the pods; default: the daemon's"},
    Flag{"to", 0, "ADDRESS,...",
         "the addresses to send to; without it, probe answers until it is stopped"},
    Flag{"port", 0, "NUMBER", "the UDP port; default: 7391"},
};

const std::vector<Command>& table() {
  static const std::vector<Command> all = [] {
    std::vector<Command> out;
    for (const auto part : {seeing_commands(), hand_commands(), own_commands()}) {
      out.insert(out.end(), part.begin(), part.end());
    }
    return out;
  }();
  return all;
}

}  // namespace

std::span<const Command> all_commands() { return table(); }

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(table(), name, &Command::name);
  return found == table().end() ? nullptr : &*found;
}

std::span<const Flag> all_flags() { return kFlags; }

const Flag& flag_of(std::string_view name) { return *std::ranges::find(kFlags, name, &Flag::name); }

const Flag& flag_of(const Command& command, std::string_view name) {
  const auto own = std::ranges::find(command.meanings, name, &Flag::name);
  return own == command.meanings.end() ? flag_of(name) : *own;
}

bool is_global(std::string_view flag) { return std::ranges::find(kGlobal, flag) != kGlobal.end(); }

}  // namespace mnet::multusctl
