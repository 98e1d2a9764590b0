#include "kube_watch/command.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/integer.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "jsonpath/jsonpath.h"
#include "nodetools/health_server.h"
#include "nodetools/options.h"

namespace mnet::kube_watch {
namespace {

Error wrong(std::string text) { return {Errc::kInvalid, std::move(text)}; }
Error show_usage() { return {Errc::kNotFound, ""}; }

struct Given {
  bool all_namespaces = false, allow_empty = false, help = false;
  std::optional<std::string> label, jsonpath, channel, handler, timeout, kubeconfig, listen;
};

Result<void> parse_options(const std::vector<std::string>& words, Given& given) {
  nodetools::EqualsOptions options;
  for (const char* name : {"-a", "--all-namespaces"}) options.boolean(name, &given.all_namespaces);
  for (const char* name : {"-e", "--allow-empty"}) options.boolean(name, &given.allow_empty);
  for (const char* name : {"-l", "--label"}) options.text(name, &given.label);
  for (const char* name : {"-j", "--jsonpath"}) options.text(name, &given.jsonpath);
  for (const char* name : {"-c", "--channel"}) options.text(name, &given.channel);
  for (const char* name : {"-h", "--handler"}) options.text(name, &given.handler);
  options.text("--handler-timeout", &given.timeout);
  options.text("--kubeconfig", &given.kubeconfig);
  options.text("--listen", &given.listen);
  options.boolean("--help", &given.help);
  return options.parse(words);
}

// `[Namespace/]Name`
Result<void> take_name(std::string_view word, Command& out) {
  const auto parts = split(word, '/');
  if (parts.size() > 2) return wrong(cat("Invalid name: ", word));
  out.name = parts.back();
  if (parts.size() == 2 && !parts[0].empty()) out.ns = parts[0];
  return {};
}

Result<void> take_object_options(const Given& given, Command& out) {
  out.wants_all_namespaces = given.all_namespaces;
  out.label = given.label.value_or("");
  if (!out.name.empty() && (out.wants_all_namespaces || given.label)) {
    return wrong(cat("a name cannot be given together with ",
                     out.wants_all_namespaces ? "--all-namespaces" : "--label"));
  }
  if (out.wants_all_namespaces && out.ns) {
    out.warnings.push_back(cat("--all-namespaces: the namespace ", *out.ns, " is ignored"));
    out.ns.reset();
  }
  if (given.jsonpath && !given.jsonpath->empty()) out.jsonpath = *given.jsonpath;
  MNET_TRY(auto&& path, jsonpath::JsonPath::parse(out.jsonpath));
  out.path = std::move(path);
  return {};
}

void warn_of_object_options(const Given& given, Command& out) {
  const auto warn = [&](bool is_given, std::string_view option) {
    if (is_given) out.warnings.push_back(cat(option, " has no effect for a file: ignored"));
  };
  warn(given.all_namespaces, "--all-namespaces");
  warn(given.label.has_value(), "--label");
  warn(given.jsonpath.has_value(), "--jsonpath");
}

Result<void> take_common_options(const Given& given, Command& out) {
  out.channel = given.channel.value_or(out.channel);
  out.handler = given.handler.value_or(out.handler);
  out.wants_empty = given.allow_empty;
  out.kubeconfig = given.kubeconfig.value_or("");
  if (out.channel.empty() || out.channel.ends_with('/')) {
    return wrong(cat("--channel: ", go_quoted(out.channel), " is not a file name"));
  }
  if (out.handler.empty()) return wrong("--handler: the name is empty");
  if (given.listen) {
    auto listen = http::parse_listen_address(*given.listen);
    if (!listen) return std::move(listen).error().wrap("--listen");
    out.listen = *std::move(listen);
  }
  if (!given.timeout) return {};
  const auto seconds = parse_integer<std::uint32_t>(*given.timeout);
  if (!seconds) {
    return wrong(
        cat("--handler-timeout: ", go_quoted(*given.timeout), " is not a number of seconds"));
  }
  out.handler_timeout = std::chrono::seconds(*seconds);
  return {};
}

bool is_option(std::string_view word) { return word.starts_with('-'); }

// How many words stand before the options, the target included; an error if one is missing.
Result<std::size_t> take_target(const std::vector<std::string>& words, Command& out) {
  const bool is_object = words[0] == "object";
  if (!is_object && words[0] != "file") return show_usage();
  const std::size_t count = is_object ? 3 : 2;
  if (words.size() < count || words[1].empty()) return show_usage();
  for (std::size_t i = 1; i < count; ++i) {
    if (is_option(words[i])) return show_usage();
  }
  if (!is_object) {
    out.action = Command::Action::kFile;
    out.file = words[1];
    return count;
  }
  out.action = Command::Action::kObject;
  out.type = words[1];
  if (out.type.find_first_of(",/") != std::string::npos) {
    return wrong(cat("Invalid type: ", out.type, " (one type, without a name)"));
  }
  MNET_TRY_VOID(take_name(words[2], out));
  return count;
}

bool asks_for_help(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--help") return true;
  }
  return false;
}

}  // namespace

Result<Command> parse_command(const std::vector<std::string>& words) {
  Command out;
  if (asks_for_help(words)) return out;
  if (words.empty()) return show_usage();
  if (words.size() == 1 && (words[0] == "version" || words[0] == "health")) {
    out.action = words[0] == "health" ? Command::Action::kHealth : Command::Action::kVersion;
    return out;
  }
  MNET_TRY(auto&& count, take_target(words, out));
  Given given;
  MNET_TRY_VOID(
      parse_options({words.begin() + static_cast<std::ptrdiff_t>(count), words.end()}, given));
  MNET_TRY_VOID(take_common_options(given, out));
  if (out.action == Command::Action::kFile) {
    warn_of_object_options(given, out);
  } else if (auto taken = take_object_options(given, out); !taken) {
    return std::move(taken).error();
  }
  return out;
}

std::string usage() {
  return R"(Runs a program whenever an object of a Kubernetes cluster, or a file, changes.

Usage: kube-watch object <Type> <[Namespace/]Name> [options]
       kube-watch file <FileName> [options]
       kube-watch health
       kube-watch version

`health` is for probes: exit status 0 if the kube-watch of this container follows what it was asked to, and the last run
of its handler succeeded.

An empty Name ("" or Namespace/) means all objects of the type. The handler gets three arguments: the channel file,
the new value, and the value of its last success. kube-watch runs it once at the start, again after each change, and,
if it fails, again after a pause.

Options (values follow the =):
  -a,   --all-namespaces      objects of all namespaces
  -l=S, --label=S             only objects with these labels
  -j=T, --jsonpath=T          the part of the object that is the value, as kubectl's JSONPath (default {}: all of it)
  -c=F, --channel=F           file that holds the value while the handler runs (default /var/run/kube-watch/channel);
                              F.prev keeps the last value that was handled
  -h=P, --handler=P           the program to run (default /usr/share/kube-watch/handler); found through PATH if it has
                              no slash
  -e,   --allow-empty         run the handler for empty values, too
        --handler-timeout=S   end a handler after S seconds (default 0: never)
        --kubeconfig=F        how to reach the API server (default $KUBECONFIG, ~/.kube/config, the pod's account)
        --listen=[ADDRESS]:PORT  serve /healthz, /readyz and /metrics there
        --help                show this text

The handler's environment also has KUBE_WATCH_EVENT (ADDED, MODIFIED, DELETED, FILE), KUBE_WATCH_NAMESPACE,
KUBE_WATCH_NAME, KUBE_WATCH_RESOURCE_VERSION, and KUBE_WATCH_OVERSIZE=1 if a value is too long for an argument and
must be read from the files.

Example: kube-watch object configmap default/fruits --jsonpath={.data.fruits} --handler=/bin/echo
)";
}

}  // namespace mnet::kube_watch
