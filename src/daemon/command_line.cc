#include "daemon/command_line.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"

namespace mnet::daemon {
namespace {

enum class Kind : std::uint8_t { kText, kBoolean, kInteger };

// A flag of older documents and the key it sets; no key: accepted without effect. A key with a dot
// lies one level down.
struct LegacyFlag {
  std::string_view name;
  Kind kind;
  std::string_view key;
};

constexpr std::array kLegacyFlags = {
    LegacyFlag{"cni-config-dir", Kind::kText, "cniConfigDir"},
    LegacyFlag{"cni-conf-dir", Kind::kText, "cniConfigDir"},
    LegacyFlag{"multus-conf-file", Kind::kText, "multusConfigFile"},
    LegacyFlag{"multus-config-file", Kind::kText, "multusConfigFile"},
    LegacyFlag{"multus-master-cni-file", Kind::kText, "multusMasterCNI"},
    LegacyFlag{"multus-master-cni-file-name", Kind::kText, "multusMasterCNI"},
    LegacyFlag{"multus-autoconfig-dir", Kind::kText, "multusAutoconfigDir"},
    LegacyFlag{"namespace-isolation", Kind::kBoolean, "namespaceIsolation"},
    LegacyFlag{"global-namespaces", Kind::kText, "globalNamespaces"},
    LegacyFlag{"multus-log-to-stderr", Kind::kBoolean, "logToStderr"},
    LegacyFlag{"multus-log-level", Kind::kText, "logLevel"},
    LegacyFlag{"multus-log-file", Kind::kText, "logFile"},
    LegacyFlag{"multus-log-max-size", Kind::kInteger, "logOptions.maxSize"},
    LegacyFlag{"multus-log-max-age", Kind::kInteger, "logOptions.maxAge"},
    LegacyFlag{"multus-log-max-backups", Kind::kInteger, "logOptions.maxBackups"},
    LegacyFlag{"multus-log-compress", Kind::kBoolean, "logOptions.compress"},
    LegacyFlag{"cni-version", Kind::kText, "cniVersion"},
    LegacyFlag{"socket-dir", Kind::kText, "daemonSocketDir"},
    LegacyFlag{"force-cni-version", Kind::kBoolean, "forceCNIVersion"},
    LegacyFlag{"readiness-indicator-file", Kind::kText, "readinessindicatorfile"},
    LegacyFlag{"override-network-name", Kind::kBoolean, "overrideNetworkName"},
    // The rest of the thin entrypoint's flags, which mean nothing here (03, 9.2).
    LegacyFlag{"cni-bin-dir", Kind::kText, ""},
    LegacyFlag{"multus-bin-file", Kind::kText, ""},
    LegacyFlag{"multus-cni-conf-dir", Kind::kText, ""},
    LegacyFlag{"skip-config-watch", Kind::kBoolean, ""},
    LegacyFlag{"skip-tls-verify", Kind::kBoolean, ""},
};

// Where the flags' values land while they are read.
struct Values {
  struct Legacy {
    const LegacyFlag* flag;
    std::string text;
    bool boolean = false;
    std::optional<std::int64_t> integer;
  };

  CommandLine line;
  std::optional<std::int64_t> metrics_port;
  std::deque<Legacy> legacy;  // elements stay where they are
};

void add_legacy(GoFlags& flags, Values::Legacy& value) {
  const std::string name(value.flag->name);
  const std::string help;  // none: they would hide the flags that count
  switch (value.flag->kind) {
    case Kind::kText:
      return flags.add(name, &value.text, help);
    case Kind::kBoolean:
      return flags.add(name, &value.boolean, help);
    case Kind::kInteger:
      return flags.add(name, &value.integer, help);
  }
}

GoFlags make_flags(Values& values) {
  GoFlags flags("multus-daemon", "");
  flags.add("config", &values.line.config_file, "the daemon's configuration file");
  flags.add("version", &values.line.wants_version, "print the version and exit");
  flags.add("metricsPort", &values.metrics_port,
            "TCP port of /metrics; takes precedence over the key of the same name");
  flags.add("probe", &values.line.probe,
            "`healthz` or `readyz`: ask the running daemon; exit 0 if it answers 200");
  flags.add("check", &values.line.wants_check,
            "look whether this node has what the daemon and its pods need, print what is "
            "wrong, change nothing; exit 1 if pods fail because of it");
  flags.add("json", &values.line.as_json, "with -check: print one JSON object");
  flags.add("uninstall", &values.line.wants_uninstall,
            "remove multus from this node: restore the primary, replay pending DELs, "
            "remove the CNI configuration, the shim and the socket");
  flags.add("pause", &values.line.pauses,
            "with -uninstall: wait for a signal when all is done, then exit");
  for (const LegacyFlag& flag : kLegacyFlags) {
    values.legacy.push_back({.flag = &flag, .text = {}, .boolean = false, .integer = {}});
    add_legacy(flags, values.legacy.back());
  }
  return flags;
}

json::Value value_of(const Values::Legacy& legacy) {
  switch (legacy.flag->kind) {
    case Kind::kText:
      return legacy.text;
    case Kind::kBoolean:
      return legacy.boolean;
    case Kind::kInteger:
      return legacy.integer.value_or(0);
  }
  return {};
}

void set_key(json::Object& object, std::string_view key, json::Value value) {
  const std::size_t dot = key.find('.');
  if (dot == std::string_view::npos) {
    object.set(std::string(key), std::move(value));
    return;
  }
  const std::string outer(key.substr(0, dot));
  if (object.find(outer) == nullptr) object.set(outer, json::Object());
  set_key(*object.find(outer)->as_object(), key.substr(dot + 1), std::move(value));
}

}  // namespace

Result<CommandLine> parse_command_line(const std::vector<std::string>& words) {
  Values values;
  GoFlags flags = make_flags(values);
  MNET_TRY(const auto& outcome, flags.parse(words));
  CommandLine line = values.line;
  line.wants_help = outcome == GoFlags::Outcome::kHelp;
  if (!line.probe.empty() && line.probe != "healthz" && line.probe != "readyz") {
    return Error(Errc::kInvalid, cat("invalid value ", go_quoted(line.probe),
                                     " for flag -probe: must be healthz or readyz"));
  }
  if (line.pauses && !line.wants_uninstall) {
    return Error(Errc::kInvalid, "flag -pause needs -uninstall");
  }
  if (line.as_json && !line.wants_check) {
    return Error(Errc::kInvalid, "flag -json needs -check");
  }
  for (const Values::Legacy& legacy : values.legacy) {
    if (!flags.given(legacy.flag->name)) continue;
    const std::string_view key = legacy.flag->key;
    if (key.empty()) {
      line.warnings.push_back(cat("the flag -", legacy.flag->name, " has no effect: remove it"));
      continue;
    }
    line.warnings.push_back(
        cat("the flag -", legacy.flag->name, " is deprecated: set ", key, " in the configuration"));
    set_key(line.overrides, key, value_of(legacy));
  }
  if (values.metrics_port) line.overrides.set("metricsPort", *values.metrics_port);
  return line;
}

std::string usage() {
  Values values;
  return cat(make_flags(values).usage(),
             "Flags of older documents are accepted, too: docs/reference.md has them.\n");
}

}  // namespace mnet::daemon
