// docs/reference.md tells of each key which type it has and what stands in for it: held to what the
// parsers take, and to where defaults are declared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <map>
#include <ranges>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "logfile/rotation.h"
#include "model/hotplug_settings.h"
#include "model/netconf.h"
#include "settings/config.h"
#include "settings/config_check.h"
#include "settings/log_settings.h"
#include "wire/wire.h"

namespace mnet::settings {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;

struct Row {
  std::string type, standard, meaning;  // `standard`: what the table says of the default
};

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string section(std::string_view title) {
  const std::string text = contents("docs/reference.md");
  const std::size_t begin = text.find(cat("\n## ", title, "\n"));
  return text.substr(begin, text.find("\n## ", begin + 1) - begin);
}

std::string without_quotes(std::string text) {
  std::erase(text, '`');
  return text;
}

// `type, default`, or `one, another; default`.
Row row_of(const std::string& cell, std::string meaning) {
  std::size_t cut = cell.rfind("; ");
  if (cut == std::string::npos) cut = cell.rfind(", ");
  if (cut == std::string::npos)
    return {.type = cell, .standard = "", .meaning = std::move(meaning)};
  return {.type = cell.substr(0, cut),
          .standard = without_quotes(cell.substr(cut + 2)),
          .meaning = std::move(meaning)};
}

using Rows = std::multimap<std::string, Row>;

// What only the shim reads so.
bool is_of_the_shim(const std::string& key) {
  return key == "shimTimeout" || key == "logToStderr" || key == "daemonSocketDir";
}

// A table of the members of another key; their rows get its name, too: `hotplug.workers`.
constexpr std::string_view kOfMembers = "| member of `";

void add_rows(std::string_view title, Rows& rows) {
  std::string owner;
  const std::regex line(R"re(^\| (`[^|]*) \| ([^|]+) \| (.*) \|$)re");
  const std::regex name(R"re(`([^`]+)`)re");
  const std::string text = section(title);
  for (const std::string_view one : split(text, '\n')) {
    if (one.empty()) owner.clear();
    if (one.starts_with(kOfMembers)) {
      owner = cat(split(one.substr(kOfMembers.size()), '`').front(), ".");
    }
    std::match_results<std::string_view::const_iterator> cells;
    if (!std::regex_match(one.begin(), one.end(), cells, line)) continue;
    if (const std::string type = cells[2]; type.starts_with("see ") || type == " ") continue;
    const std::string names = cells[1];
    for (std::sregex_iterator found(names.begin(), names.end(), name), end; found != end; ++found) {
      rows.emplace(owner + std::string((*found)[1]), row_of(cells[2], cells[3]));
    }
  }
}

// A key may stand in both tables.
const Rows& rows() {
  static const Rows all = [] {
    Rows of_requests, out;
    add_rows("The CNI configuration", of_requests);
    std::erase_if(of_requests, [](const auto& row) { return is_of_the_shim(row.first); });
    add_rows("daemon-config.json", out);
    out.merge(of_requests);
    return out;
  }();
  return all;
}

const Row& row(const std::string& key) { return rows().find(key)->second; }

std::string said_of(const std::string& key, std::string_view value) {
  const bool is_member = key.contains('.') && !key.contains('/');  // not `cni.dev/attachments`
  std::string document(value);
  for (const std::string_view name : split(key, is_member ? '.' : '\0') | std::views::reverse) {
    document = cat("{", go_quoted(name), ":", document, "}");
  }
  const auto config = parse_config(document);
  return config ? join(config_warnings(*config), "\n") : config.error().text();
}

// What a value of each kind looks like. A text that is right for one key may be wrong for another.
constexpr std::string_view kWhole = "7", kFraction = "7.5", kTrue = "true", kTexts = R"(["x"])",
                           kObjects = "[{}]", kObject = "{}", kNumbers = R"({"x":7})";
constexpr std::array kAll = {kWhole, kFraction, kTrue, kTexts, kObjects, kNumbers};

std::vector<std::string_view> right_values(std::string_view type) {
  if (type.starts_with("bool or object")) return {kTrue, kObject};
  if (type.starts_with("bool")) return {kTrue};
  if (type.starts_with("integer")) return {kWhole};
  if (type.starts_with("duration")) return {R"("7s")"};
  if (type.starts_with("seconds")) return {kWhole, kFraction};
  if (type.starts_with("list of strings")) return {kTexts};
  if (type.starts_with("list of objects")) return {kObjects};
  if (type.starts_with("object of bools")) return {R"({"x":true})"};
  if (type.starts_with("object")) return {kObject, kNumbers};
  if (type.starts_with("version")) return {R"("1.0.0")"};
  if (type.starts_with("address")) return {R"("127.0.0.1")"};
  for (const std::string_view text : {"string", "path", "file name"}) {
    if (type.starts_with(text)) return {R"("x")"};
  }
  return {};  // names of values
}

bool is_of_the_runtime(const std::string& key) {
  return key == "prevResult" || key == "ipam" || key == "dns";  // read with a request only
}

TEST(Reference, TellsTheTypeOfEachKeyAsTheParsersHaveIt) {
  for (const auto& [key, row] : rows()) {
    if (is_of_the_runtime(key)) continue;
    const auto right = right_values(row.type);
    for (const std::string_view value : right) {
      EXPECT_THAT(said_of(key, value), Not(HasSubstr("expected"))) << key << ": " << value;
    }
    for (const std::string_view value : kAll) {
      if (std::ranges::find(right, value) != right.end()) continue;
      if (value == kNumbers && std::ranges::find(right, kObject) != right.end()) continue;
      EXPECT_THAT(said_of(key, value), HasSubstr(key)) << value << " as " << row.type;
    }
  }
  EXPECT_GT(rows().size(), 60u);
}

TEST(Reference, TellsWhichValuesAKeyMayHave) {
  const std::regex name(R"re(`(\w+)`)re");
  std::size_t seen = 0;
  for (const auto& [key, row] : rows()) {
    if (!row.type.starts_with("`")) continue;
    for (std::sregex_iterator found(row.type.begin(), row.type.end(), name), end; found != end;
         ++found, ++seen) {
      EXPECT_EQ(said_of(key, cat('"', std::string((*found)[1]), '"')), "") << key;
    }
    // An unknown level is said once the log is there, and does not end the daemon.
    if (key != "logLevel") EXPECT_THAT(said_of(key, R"("another")"), HasSubstr(key));
    EXPECT_THAT(row.type, HasSubstr(cat('`', row.standard, '`'))) << key;
  }
  EXPECT_GT(seen, 12u);
}

std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(std::chrono::milliseconds time) {
  using std::chrono::minutes, std::chrono::seconds;
  if (time >= minutes(1))
    return cat("\"", std::chrono::duration_cast<minutes>(time).count(), "m\"");
  return cat("\"", std::chrono::duration_cast<seconds>(time).count(), "s\"");
}

// What the code does without the key, as the tables write it.
std::map<std::string, std::string> defaults() {
  const Config config;
  const model::NetConf conf;
  const model::HotplugSettings hotplug = parse_config(R"({"hotplug":{}})")->hotplug;
  return {
      {"socketDir", config.socket_dir},
      {"delegateTimeout", cat(config.delegate_timeout.count())},
      {"delegateCgroup", text_of(config.delegate_cgroup)},
      {"reconcileGrace", cat(config.reconcile_grace.count())},
      {"hotplug", text_of(config.hotplug.is_enabled)},
      {"hotplug.enabled", text_of(hotplug.is_enabled)},
      {"hotplug.workers", cat(hotplug.workers)},
      {"hotplug.retryInitial", text_of(hotplug.retry_initial)},
      {"hotplug.retryMax", text_of(hotplug.retry_max)},
      {"hotplug.resync", text_of(hotplug.resync)},
      {"maxRequestBytes", cat(config.max_request_bytes)},
      {"kubeletDir", config.kubelet_dir},
      {"podLookupTimeout", cat(conf.pod_lookup_timeout.count() / 1000, ".",
                               conf.pod_lookup_timeout.count() % 1000 / 100)},
      {"multusConfigFile", config.multus_config_file},
      {"multusAutoconfigDir", "cniConfigDir"},
      {"cniConfigDir", config.cni_config_dir},
      {"forceCNIVersion", text_of(config.force_cni_version)},
      {"overrideNetworkName", text_of(config.override_network_name)},
      {"cleanupConfigOnExit", text_of(config.cleanup_config_on_exit)},
      {"type", config.type},
      {"logToStderr", text_of(conf.log_to_stderr)},
      {"enablePprof", text_of(config.enable_pprof.value_or(false))},
      {"confDir", conf.conf_dir},
      {"cniDir", conf.cni_dir},
      {"binDir", conf.bin_dir},
      {"multusNamespace", conf.multus_namespace},
      {"systemNamespaces", cat("[\"", join(conf.system_namespaces, "\", \""), "\"]")},
      {"namespaceIsolation", text_of(conf.namespace_isolation)},
      {"globalNamespaces", join(conf.non_isolated_namespaces, ",")},
      {"allowAnnotationDevices", text_of(conf.allow_annotation_devices)},
      {"retryDeleteOnError", text_of(conf.retry_delete_on_error)},
      {"daemonSocketDir", "none"},
      {"capabilities", "{}"},
      {"metricsAddress", "all"},
  };
}

TEST(Reference, TellsTheDefaultOfEachKeyAsTheCodeHasIt) {
  const auto known = defaults();
  for (const auto& [key, row] : rows()) {
    const bool is_named = row.type.starts_with("`");  // below
    const bool is_told = !row.standard.empty() && row.standard != "none" &&
                         !row.standard.starts_with("see ") && !row.standard.starts_with("from ");
    if (is_told && !is_named) EXPECT_THAT(known, Contains(Key(key))) << row.standard;
  }
  for (const auto& [key, value] : known) {
    ASSERT_THAT(rows(), Contains(Key(key)));
    for (const auto& [name, row] :
         std::ranges::subrange(rows().lower_bound(key), rows().upper_bound(key))) {
      EXPECT_THAT(row.standard, AnyOf(value, "")) << name;
    }
    EXPECT_NE(row(key).standard, "") << key;
  }
  EXPECT_EQ(model::NetConf().cni_dir, wire::kDefaultCniDir);
}

// The configuration that says what stands in for a key is the one without the key.
TEST(Reference, TellsWhichOfTheNamedValuesIsTheDefault) {
  const auto with = [](const std::string& key) {
    return parse_config(cat("{", go_quoted(key), ":", go_quoted(row(key).standard), "}"));
  };
  const auto read = [&with](const std::string& key) {
    return model::read_settings(with(key)->document);
  };

  EXPECT_EQ(with("reconcile")->reconcile, Config().reconcile);
  EXPECT_EQ(with("logFormat")->log_format, Config().log_format);
  EXPECT_EQ(read("parallelAttach")->parallel_attach, model::NetConf().parallel_attach);
  EXPECT_EQ(read("checkNetworks")->check_networks, model::CheckNetworks::kReport);
  std::vector<std::string> complaints;
  EXPECT_EQ(level_of(*with("logLevel"), complaints), level_of(Config(), complaints));
  EXPECT_THAT(complaints, testing::IsEmpty());
}

TEST(Reference, TellsTheDefaultsOfMembers) {
  EXPECT_EQ(row("hotplug.onAttributeChange").standard, "ignore");
  EXPECT_FALSE(model::HotplugSettings().replaces_on_change);

  const logfile::Rotation rotation;
  const std::string& of_log = row("logOptions").meaning;
  EXPECT_THAT(of_log, HasSubstr(cat("`maxSize` (MiB, ", rotation.max_bytes >> 20, ")")));
  EXPECT_THAT(of_log, HasSubstr(cat("`maxAge` (days, ", rotation.max_age.count() / 24, ";")));
  EXPECT_THAT(of_log, HasSubstr(cat("`maxBackups` (", rotation.max_backups, ";")));
  EXPECT_THAT(of_log, HasSubstr(cat("`compress` (gzip, ", text_of(rotation.compress), ")")));
}

}  // namespace
}  // namespace mnet::settings
