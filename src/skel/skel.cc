#include "skel/skel.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/error.h"
#include "cni/names.h"
#include "cni/result.h"
#include "cni/version.h"
#include "json/fields.h"
#include "json/json.h"
#include "skel/environment.h"
#include "sys/netns.h"

namespace mnet::skel {
namespace {

using cni::Code;
using cni::coded;

// `null` is an object without members, as Go decodes it.
Result<json::Object> parse_config(std::string_view text) {
  const auto refused = [](const Error& why) {
    return coded(Code::kDecoding, cat("error unmarshall network config: ", why.text()));
  };
  auto document = json::parse(text);
  if (!document) return refused(document.error());
  json::Object config;
  if (json::Object* object = document->as_object()) {
    config = std::move(*object);
  } else if (!document->is_null()) {
    return refused(json::wrong_kind("stdin", "an object", *document));
  }

  std::string name;
  json::Fields fields(config);
  fields.read("name", name);
  if (auto read = fields.done(); !read) return refused(read.error());
  if (name.empty()) return coded(Code::kInvalidConfig, "missing network name");
  MNET_TRY_VOID(cni::validate_network_name(name));
  return config;
}

Result<std::string> version_of(const json::Object& config) {
  std::string version;
  json::Fields fields(config);
  fields.read("cniVersion", version);
  if (auto read = fields.done(); !read) {
    return coded(Code::kDecoding,
                 cat("decoding version from network config: ", read.error().text()));
  }
  return version.empty() ? std::string(cni::kOldestVersion) : version;
}

Result<void> check_version(const Plugin& plugin, const std::string& version) {
  if (std::ranges::find(plugin.versions, version) != plugin.versions.end()) return {};
  return coded(
      Code::kIncompatibleVersion, "incompatible CNI versions",
      cat("config is ", go_quoted(version), ", plugin supports ", go_quoted_list(plugin.versions)));
}

Result<cni::VersionNumber> number_of(std::string_view version) {
  auto number = cni::parse_version(version);
  if (!number) return coded(Code::kDecoding, number.error().text());
  return number;
}

// CHECK, GC and STATUS exist only from some version on, for the configuration and for the plugin.
Result<void> pass_gates(const Plugin& plugin, std::string_view command, std::string_view version,
                        const cni::VersionNumber& since) {
  MNET_TRY(const auto& wanted, number_of(version));
  if (wanted < since) {
    return coded(Code::kIncompatibleVersion, cat("config version does not allow ", command));
  }
  for (const std::string& supported : plugin.versions) {
    MNET_TRY(const auto& number, number_of(supported));
    if (number >= wanted) return {};
  }
  return coded(Code::kIncompatibleVersion, cat("plugin version does not allow ", command));
}

bool is_overridden(std::string_view text) {
  return text == "1" || equal_ignoring_case(text, "true");
}

// The original compares after the handler ran, when all is done and printed (01, 2.5).
Result<void> check_netns(const CmdArgs& args) {
  if (is_overridden(args.netns_override)) return {};
  const auto theirs = sys::NetNs::open(args.netns);
  if (!theirs) return {};
  const auto ours = sys::NetNs::own();
  if (!ours) return coded(Code::kInvalidNetns, "get plugin's netns failed");
  if (theirs->id() != ours->id()) return {};
  return coded(Code::kInvalidNetns,
               "plugin's netns and netns from CNI_NETNS should not be the same");
}

struct Command {
  std::string_view name;
  Handler Plugin::* handler;
  std::optional<cni::VersionNumber> since;
  bool compares_netns;
};

const Command* find_command(std::string_view name) {
  static constexpr Command kCommands[] = {
      {"ADD", &Plugin::add, std::nullopt, true},
      {"DEL", &Plugin::del, std::nullopt, true},
      {"CHECK", &Plugin::check, cni::kCheckSince, false},
      {"GC", &Plugin::gc, cni::kGcStatusSince, false},
      {"STATUS", &Plugin::status, cni::kGcStatusSince, false},
  };
  for (const Command& command : kCommands) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

// A failing DEL would keep the runtime from removing the container, needlessly: nothing was made.
Result<void> refuse_nested(const Command& command, const Front& front) {
  constexpr std::string_view kWhy =
      "multus was started by a delegate of Multus, which it never serves; write the type of "
      "another "
      "plugin into the network's configuration";
  if (command.name != "DEL") return coded(Code::kInvalidConfig, std::string(kWhy));
  front.write_stderr(cat(kWhy, "\n"));
  return {};
}

Result<void> dispatch(const Plugin& plugin, const Command& command, const json::Object& config,
                      const CmdArgs& args, const Front& front) {
  MNET_TRY(const auto& version, version_of(config));
  if (command.since) {
    MNET_TRY_VOID(pass_gates(plugin, command.name, version, *command.since));
  }
  MNET_TRY_VOID(check_version(plugin, version));
  if (command.compares_netns) {
    MNET_TRY_VOID(check_netns(args));
  }
  if (!plugin.own_mark.empty() && front.env(plugin.own_mark)) return refuse_nested(command, front);
  const Handler& handler = plugin.*command.handler;
  return handler ? handler(args) : Result<void>();
}

Result<void> print_version(const Plugin& plugin, const Front& front) {
  const json::Object reply{{"cniVersion", cni::kCurrentVersion},
                           {"supportedVersions", plugin.versions}};
  auto written = front.write_stdout(cat(json::dump(reply), '\n'));
  if (!written) return coded(Code::kIo, written.error().text());
  return {};
}

Result<void> run_command(const Plugin& plugin, const Front& front) {
  MNET_TRY(auto&& environment, read_environment(front));
  if (environment.command == "VERSION") return print_version(plugin, front);

  auto text = front.read_stdin();
  if (!text) return coded(Code::kIo, cat("error reading from stdin: ", text.error().text()));
  MNET_TRY(auto&& config, parse_config(*text));
  const Command* command = find_command(environment.command);
  if (command == nullptr) {
    return coded(Code::kInvalidEnvironment,
                 cat("unknown CNI_COMMAND: ", excerpt(environment.command)));
  }
  environment.args.stdin_data = *std::move(text);
  return dispatch(plugin, *command, config, environment.args, front);
}

void print_about(const Plugin& plugin, const Front& front) {
  front.write_stderr(
      cat(plugin.about, "\nCNI protocol versions supported: ", join(plugin.versions, ", "), "\n"));
}

int report(const Error& error, const Front& front) {
  const std::string text = json::dump(cni::to_json(cni::object_for_runtime(error)), json::kPretty);
  if (auto written = front.write_stdout(text); !written) {
    front.write_stderr(cat("Error writing error JSON to stdout: ", written.error().text(), "\n"));
  }
  return 1;
}

Result<void> run_guarded(const Plugin& plugin, const Front& front) {
  // None of our code throws, but memory may run out. The runtime must get an error object even
  // then.
  try {
    return run_command(plugin, front);
  } catch (const std::exception& failure) {
    return Error(Errc::kBug, failure.what());
  } catch (...) {
    return Error(Errc::kBug, "unknown exception");
  }
}

}  // namespace

int run(const Plugin& plugin, const Front& front) {
  if (!plugin.about.empty() && front.env("CNI_COMMAND").value_or("").empty()) {
    print_about(plugin, front);
    return 0;
  }
  const auto outcome = run_guarded(plugin, front);
  return outcome ? 0 : report(outcome.error(), front);
}

Result<void> print_result(const cni::NetResult& result, std::string_view version,
                          const Front& front) {
  MNET_TRY(const auto& converted, cni::convert(result, version));
  return front.write_stdout(json::dump(cni::to_json(converted), json::kPretty));
}

}  // namespace mnet::skel
