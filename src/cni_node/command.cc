#include "cni_node/command.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/spelling.h"
#include "base/text.h"
#include "base/try.h"
#include "cni_node/names.h"
#include "nodetools/health_server.h"
#include "nodetools/options.h"
#include "sys/directory.h"
#include "sys/environment.h"

namespace mnet::cni_node {
namespace {

using Action = Command::Action;
using Given = std::optional<std::string>;

// Far below what a clock can count.
constexpr std::chrono::hours kLongestDuration{24 * 366 * 100};

// The words after the command, as they were given.
struct Options {
  Given plugins, configs, manifests;
  Given plugin_source, plugin_target, config_source, config_target, manifest_source, host_root,
      state;
  Given kubeconfig, ns, field_manager, env, wait_timeout, timeout, configmap, resync, owner;
  Given output, listen;
};

struct CommandName {
  std::string_view word;
  Action action;
};
constexpr CommandName kCommands[] = {
    {"install", Action::kInstall},   {"uninstall", Action::kUninstall},
    {"apply", Action::kApply},       {"watch", Action::kWatch},
    {"rollback", Action::kRollback}, {"status", Action::kStatus},
    {"verify", Action::kVerify},     {"health", Action::kHealth},
    {"list", Action::kList},         {"version", Action::kVersion},
    {"--version", Action::kVersion}, {"help", Action::kHelp},
    {"--help", Action::kHelp},       {"-h", Action::kHelp}};

bool asks_for_help(std::string_view word) { return word == "--help" || word == "-h"; }

Result<Action> action_of(const std::vector<std::string>& words) {
  if (words.empty()) return Error(Errc::kNotFound, "");
  std::vector<std::string_view> known;
  for (const CommandName& one : kCommands) {
    if (one.word == words.front()) {
      return std::ranges::any_of(words, asks_for_help) ? Action::kHelp : one.action;
    }
    known.push_back(one.word);
  }
  return Error(Errc::kNotFound,
               cat("Unknown command: ", excerpt(words.front()), suggestion(words.front(), known)));
}

// Of the commands that look at the node's files.
void add_file_options(nodetools::EqualsOptions& known, Options& given) {
  known.text("--plugin-target", &given.plugin_target);
  known.text("--config-source", &given.config_source);
  known.text("--config-target", &given.config_target);
  known.text("--host-root", &given.host_root);
  known.text("--state", &given.state);
}

void add_work_options(nodetools::EqualsOptions& known, Options& given, Command& command) {
  add_file_options(known, given);
  known.text("--plugins", &given.plugins);
  known.text("--configs", &given.configs);
  known.text("--manifests", &given.manifests);
  known.text("--manifest-source", &given.manifest_source);
  known.text("--kubeconfig", &given.kubeconfig);
  known.text("--namespace", &given.ns);
  known.text("--field-manager", &given.field_manager);
  known.text("--env", &given.env);
  known.text("--wait-timeout", &given.wait_timeout);
  known.boolean("--strict-env", &command.is_strict);
  known.boolean("--allow-downgrade", &command.downgrades);
}

bool is_one_of(Action action, std::initializer_list<Action> some) {
  return std::ranges::find(some, action) != some.end();
}

// `-o json` is written like kubectl's, with a blank.
std::vector<std::string> with_output_joined(std::vector<std::string> words) {
  const auto found = std::ranges::find(words, "-o");
  if (found == words.end() || found + 1 == words.end()) return words;
  *found += cat("=", *(found + 1));
  words.erase(found + 1);
  return words;
}

Result<void> parse_options(const std::vector<std::string>& words, Options& given,
                           Command& command) {
  nodetools::EqualsOptions known;
  bool is_unchecked = false;
  known.boolean("--quiet", &command.is_quiet);
  if (!is_one_of(command.action, {Action::kVersion, Action::kHelp, Action::kHealth})) {
    known.text("--plugin-source", &given.plugin_source);
  }
  const bool works = command.action == Action::kInstall || command.action == Action::kUninstall ||
                     command.action == Action::kApply;
  if (works || command.action == Action::kWatch) {
    add_work_options(known, given, command);
    known.boolean("--no-validate", &is_unchecked);
    known.text("--listen", &given.listen);
  }
  if (is_one_of(command.action, {Action::kStatus, Action::kVerify, Action::kRollback})) {
    add_file_options(known, given);
  }
  if (is_one_of(command.action, {Action::kStatus, Action::kVerify})) {
    known.text("--plugins", &given.plugins);
    known.text("--configs", &given.configs);
  }
  if (is_one_of(command.action, {Action::kStatus, Action::kVerify, Action::kList})) {
    known.text("-o", &given.output);
    known.text("--output", &given.output);
  }
  if (works) {
    known.boolean("--pause", &command.pauses);
    known.boolean("--dry-run", &command.is_dry);
    known.text("--timeout", &given.timeout);
  }
  if (command.action == Action::kWatch) {
    known.text("--configmap", &given.configmap);
    known.text("--resync", &given.resync);
    known.boolean("--cleanup-on-exit", &command.cleans_up);
    known.text("--owner", &given.owner);
  }
  auto parsed = known.parse(with_output_joined(words));
  command.validates = !is_unchecked;
  return parsed;
}

// Option before environment before default.
class PathChoice {
 public:
  explicit PathChoice(const std::vector<std::string>& environment) : environment_(environment) {}

  std::string choose(const Given& given, std::string_view option, std::string_view variable,
                     const std::string& usual) {
    is_usual_ = false;
    std::string_view from = option;
    std::string path = given.value_or("");
    if (!given) {
      from = variable;
      path = sys::variable(environment_, variable);
      is_usual_ = path.empty();
      if (is_usual_) path = usual;
    }
    if (!path.starts_with('/') && error_.empty()) {
      error_ = cat(from, ": not an absolute path: ", path);
    }
    return path;
  }
  bool is_usual() const { return is_usual_; }  // of the last one
  const std::string& error() const { return error_; }

 private:
  const std::vector<std::string>& environment_;
  bool is_usual_ = false;
  std::string error_;
};

Result<Directories> choose_directories(const Options& given,
                                       const std::vector<std::string>& environment) {
  PathChoice choice(environment);
  Directories out;
  std::string root = choice.choose(given.host_root, "--host-root", "CNI_NODE_HOST_ROOT", "/host");
  while (root.ends_with('/')) root.pop_back();
  out.plugin_source = choice.choose(given.plugin_source, "--plugin-source",
                                    "CNI_NODE_PLUGIN_SOURCE", "/opt/cni/bin");
  out.plugin_target = choice.choose(given.plugin_target, "--plugin-target",
                                    "CNI_NODE_PLUGIN_TARGET", cat(root, "/opt/cni/bin"));
  out.is_usual_plugin_target = choice.is_usual();
  out.config_source = choice.choose(given.config_source, "--config-source",
                                    "CNI_NODE_CONFIG_SOURCE", "/etc/cni/net.d");
  out.config_target = choice.choose(given.config_target, "--config-target",
                                    "CNI_NODE_CONFIG_TARGET", cat(root, "/etc/cni/net.d"));
  out.is_usual_config_target = choice.is_usual();
  out.manifest_source = choice.choose(given.manifest_source, "--manifest-source",
                                      "CNI_NODE_MANIFEST_SOURCE", "/etc/kubernetes/manifests");
  out.state = choice.choose(given.state, "--state", "CNI_NODE_STATE",
                            cat(root, "/var/lib/cni-node/state.json"));
  out.is_usual_state = choice.is_usual();
  out.host_root = std::move(root);
  if (!choice.error().empty()) return Error(Errc::kInvalid, choice.error());
  return out;
}

Result<void> read_lists(const Given& given, std::optional<Lists>& out,
                        Pinning pinning = Pinning::kRefused) {
  if (!given) return {};
  MNET_TRY(auto&& lists, parse_lists(*given, pinning));
  out = std::move(lists);
  return {};
}

// A file must not be replaced by itself. (What does not exist is the same as nothing.)
Result<void> refuse_same(const std::string& source, const std::string& target) {
  const auto a = sys::Directory::open(source);
  const auto b = sys::Directory::open(target);
  if (!a || !b || !a->is_same(*b)) return {};
  return Error(Errc::kInvalid,
               cat("Source and target are the same directory: ", source, ", ", target));
}

Result<std::optional<std::chrono::milliseconds>> read_duration(std::string_view option,
                                                               const Given& given) {
  if (!given) return std::optional<std::chrono::milliseconds>();
  const auto time = parse_duration(*given);
  if (!time) return Error(Errc::kInvalid, cat("Invalid value: ", option, "=", *given));
  return time;
}

Result<void> read_values(const Options& given, Command& command) {
  if (given.field_manager) command.field_manager = *given.field_manager;
  command.access.kubeconfig = given.kubeconfig.value_or("");
  command.access.ns = given.ns.value_or("");
  if (given.env) {
    command.allowed_variables.emplace();
    for (const std::string_view name : split(*given.env, ',')) {
      if (!trim(name).empty()) command.allowed_variables->emplace(trim(name));
    }
  }
  MNET_TRY(const auto wait, read_duration("--wait-timeout", given.wait_timeout));
  if (wait) command.wait_time = std::chrono::duration_cast<std::chrono::seconds>(*wait);
  MNET_TRY(const auto resync, read_duration("--resync", given.resync));
  if (resync) command.resync = *resync;
  MNET_TRY(const auto timeout, read_duration("--timeout", given.timeout));
  command.timeout = timeout;
  if (given.listen) {
    auto listen = http::parse_listen_address(*given.listen);
    if (!listen) return Error(Errc::kInvalid, cat("Invalid value: --listen=", *given.listen));
    command.listen = *std::move(listen);
  }
  if (!given.output) return {};
  if (*given.output == "json") {
    command.output = Command::Output::kJson;
  } else if (*given.output == "name" && command.action == Action::kList) {
    command.output = Command::Output::kNames;
  } else {
    return Error(Errc::kInvalid, cat("Invalid value: -o ", *given.output));
  }
  return {};
}

// Both parts become segments of a path.
bool is_kubernetes_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of("/% \t\r\n") == std::string_view::npos;
}

// `[NS/]NAME`
Result<void> read_name(std::string_view option, const Given& given, std::string& ns,
                       std::string& name) {
  if (!given) return {};
  const auto parts = split(*given, '/');
  name = parts.back();
  if (parts.size() == 2) ns = parts.front();
  const bool is_good = parts.size() <= 2 && is_kubernetes_name(name) &&
                       (parts.size() == 1 || is_kubernetes_name(ns));
  if (is_good) return {};
  return Error(Errc::kInvalid, cat("Invalid value: ", option, "=", *given));
}

Result<void> read_configmap(const Options& given, Command& command) {
  if (command.action != Action::kWatch) return {};
  const bool has_lists = given.plugins || given.configs || given.manifests;
  if (given.configmap.has_value() == has_lists) {
    return Error(Errc::kInvalid,
                 "watch needs either --configmap or lists of its own, and not both");
  }
  for (const Given* list : {&given.plugins, &given.configs, &given.manifests}) {
    if (*list && (*list)->find(':') != std::string::npos) {
      return Error(Errc::kInvalid,
                   cat("watch itself records what is installed: no ':' is allowed in ", **list));
    }
  }
  if (given.owner && !command.cleans_up) {
    return Error(Errc::kInvalid, "--owner needs --cleanup-on-exit");
  }
  MNET_TRY_VOID(read_name("--configmap", given.configmap, command.configmap_ns, command.configmap));
  return read_name("--owner", given.owner, command.owner_ns, command.owner);
}

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  std::chrono::milliseconds total{0};
  if (text.empty()) return std::nullopt;
  while (!text.empty()) {
    std::uint32_t count = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (failure != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const std::string_view unit = text.substr(0, text.find_first_of("0123456789"));
    text.remove_prefix(unit.size());
    if (unit == "ms") {
      total += std::chrono::milliseconds(count);
    } else if (unit == "s" || unit.empty()) {
      total += std::chrono::seconds(count);
    } else if (unit == "m") {
      total += std::chrono::minutes(count);
    } else if (unit == "h") {
      total += std::chrono::hours(count);
    } else {
      return std::nullopt;
    }
    if (total > kLongestDuration) return std::nullopt;
  }
  return total;
}

Result<Command> parse_command(const std::vector<std::string>& words,
                              const std::vector<std::string>& environment) {
  MNET_TRY(const Action action, action_of(words));
  Command out{.action = action};
  if (action == Action::kHelp) return out;
  Options given;
  MNET_TRY_VOID(parse_options({words.begin() + 1, words.end()}, given, out));
  MNET_TRY_VOID(read_lists(given.plugins, out.plugins, Pinning::kAllowed));
  MNET_TRY_VOID(read_lists(given.configs, out.configs));
  MNET_TRY_VOID(read_lists(given.manifests, out.manifests));
  MNET_TRY(auto&& directories, choose_directories(given, environment));
  out.directories = std::move(directories);
  out.access.environment = environment;
  MNET_TRY_VOID(read_values(given, out));
  MNET_TRY_VOID(read_configmap(given, out));
  const bool watches = !out.configmap.empty();
  if (out.plugins || watches) {
    MNET_TRY_VOID(refuse_same(out.directories.plugin_source, out.directories.plugin_target));
  }
  if (out.configs || watches) {
    MNET_TRY_VOID(refuse_same(out.directories.config_source, out.directories.config_target));
  }
  return out;
}

std::string usage() {
  return R"(Usage: cni-node <command> [options]

Installs CNI plugins, CNI configurations and Kubernetes objects on a node, and removes them again.

Commands:
  install    install the named plugins, configurations and manifests
  uninstall  remove them
  apply      install what is desired and not current, then uninstall what is current and not desired
  watch      apply again whenever a ConfigMap, a template or a file that a template points to changes
  rollback   undo what the last install, uninstall, apply or watch did to plugins and configurations
  status     show what is installed: present, changed, missing, or foreign (not installed by cni-node)
  health     for probes: exit status 0 if the cni-node of this container has done what it was asked for
  verify     compare the node with what is asked for; exit status 1 if something is changed or missing
  list       show the plugins that can be installed, with version and SHA-256
  version    show the version (also --version)
  help       show this text (also --help, and behind every command)

Lists (install, uninstall, apply, watch): names separated by commas or blanks
  --plugins=DESIRED[:CURRENT]    plugin programs; NAME=sha256-HEX: exactly this one
  --configs=DESIRED[:CURRENT]    CNI configurations, made from templates of the same name; __FILE__ in a
                                 template is replaced by that file of the node's configuration directory
  --manifests=DESIRED[:CURRENT]  files of Kubernetes objects; $NAME and ${NAME} are replaced from the environment
  CURRENT names what is installed now; only apply uses it.

Options of install, uninstall, apply:
  --pause              wait for SIGTERM or SIGINT afterwards
  --dry-run            change nothing, show what would change
  --timeout=5m         give up what is not done by then; default never

Options of list, status, verify:
  -o json              as JSON (list: also -o name, names only)

Options of watch:
  --configmap=[NS/]NAME  take the lists from the keys plugins, configs, manifests of this ConfigMap
  --resync=5m            how often to check everything; 0: never
  --cleanup-on-exit      uninstall everything on SIGTERM or SIGINT
  --owner=[NS/]NAME      but only if this DaemonSet does not exist any more or is being deleted

Directories (absolute paths; also from the environment: CNI_NODE_PLUGIN_SOURCE and so on):
  --plugin-source=/opt/cni/bin                      plugins to install
  --plugin-target=/host/opt/cni/bin                 plugins of the node
  --config-source=/etc/cni/net.d                    templates
  --config-target=/host/etc/cni/net.d               configurations of the node
  --manifest-source=/etc/kubernetes/manifests       manifests
  --host-root=/host                                 where the node's own root is mounted
  --state=/host/var/lib/cni-node/state.json         the ledger: what is installed, and what it replaced

Kubernetes:
  --kubeconfig=FILE      default: $KUBECONFIG, ~/.kube/config, then the pod's service account
  --namespace=NS         namespace of objects that do not name one
  --field-manager=NAME   default cni-node
  --env=A,B              replace only these variables; default all
  --strict-env           an unset variable is an error
  --wait-timeout=30      seconds to wait for deletions and new definitions; 0: do not wait

Other:
  --listen=[ADDRESS]:PORT  serve /healthz, /readyz and /metrics there
  --allow-downgrade      replace plugins that cni-node installed by older ones
  --no-validate          do not check that configurations are JSON
  --quiet                leave out the contents of configurations and manifests, and the summary

Exit status: 0 done, 1 something failed, 2 wrong usage (nothing was changed), 128+n ended by signal n.
)";
}

}  // namespace mnet::cni_node
