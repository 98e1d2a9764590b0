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
    Flag{"this-node", 0, {}, "ask the daemon of this machine only, never a cluster"},
    Flag{"node", 0, "NAME", "the node whose daemon is meant; otherwise all"},
    Flag{"check-pods", 0, {}, "also run CHECK for everything that is attached; changes nothing"},
    Flag{"yes", 'y', {}, "do not ask"},
    Flag{"dry-run", 0, {}, "say what would be done, and do nothing"},
    Flag{"interface", 0, "NAME",
         "the interface in the pod; otherwise the first free net1, net2, ..."},
    Flag{"timeout", 0, "SECONDS", "how long to wait at most"},
    Flag{"network", 0, "NAME",
         "the network, NAMESPACE/NAME or NAME; otherwise the cluster network"},
    Flag{"image", 0, "NAME", "the image of the pods; otherwise the daemon's"},
    Flag{"to", 0, "ADDRESS,...",
         "addresses to try; without it the program answers until it is ended"},
    Flag{"port", 0, "NUMBER", "the UDP port; otherwise 7391"},
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

bool is_global(std::string_view flag) { return std::ranges::find(kGlobal, flag) != kGlobal.end(); }

}  // namespace mnet::multusctl
