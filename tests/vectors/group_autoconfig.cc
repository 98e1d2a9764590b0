#include <map>
#include <string>
#include <utility>
#include <vector>

#include "autoconfig_thin.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "daemon/config.h"
#include "daemon/node_config.h"
#include "groups.h"
#include "json/json.h"
#include "nodeconf/generate.h"
#include "nodeconf/primary.h"
#include "sys/file.h"

namespace mnet::vectors {
namespace {

Result<daemon::Config> daemon_config(const json::Object& input) {
  MNET_TRY(auto&& document, object_of(input, "daemon_config"));
  return daemon::config_of(std::move(document));
}

Result<json::Object> config_member(const std::string& text) {
  MNET_TRY(auto&& config, json::parse(text));
  return json::Object{{"config", std::move(config)}, {"config_text", text}};
}

Result<json::Object> generate(const json::Object& input) {
  MNET_TRY(const auto& config, daemon_config(input));
  MNET_TRY(const auto& primary, value_of(input, "primary"));
  nodeconf::FromPrimary from;
  from.cluster_network = config.cluster_network;
  if (!primary.is_null()) {
    if (primary.as_object() == nullptr) {
      // The program only ever reads the file, and refuses one that does not hold an object.
      const auto refused = nodeconf::parse_primary(json::dump(primary), "0.3.1", config.type);
      return refused ? Error(Errc::kBug, "taken for a primary") : refused.error();
    }
    from.capabilities = nodeconf::capabilities_of(*primary.as_object()).values;
  }
  return config_member(nodeconf::generate(daemon::node_settings(config), from));
}

// The primary of one case: chosen once, then read anew at each change.
class Node {
 public:
  explicit Node(daemon::Config config)
      : config_(std::move(config)), generator_(daemon::node_settings(config_)) {}

  Result<void> choose() {
    const std::string dir = daemon::autoconfig_dir(config_);
    const std::string& master = config_.multus_master_cni;
    MNET_TRY_VOID(nodeconf::check_master_name(dir, master));
    MNET_TRY(auto&& choice, nodeconf::choose_primary(dir, master));
    path_ = std::move(choice.path);
    return {};
  }

  Result<void> update() {
    MNET_TRY_VOID(nodeconf::check_top_version(config_.cni_version));
    if (config_.force_cni_version) {
      MNET_TRY([[maybe_unused]] const auto& forced,
               nodeconf::force_version(path_, config_.cni_version));
    }
    MNET_TRY(const auto& primary, nodeconf::load_primary(path_, config_.cni_version, config_.type));
    MNET_TRY(auto&& output, generator_.output(path_, primary));
    text_ = std::move(output.text);
    return {};
  }

  const std::string& text() const { return text_; }

 private:
  daemon::Config config_;
  nodeconf::Generator generator_;
  std::string path_, text_;
};

using Files = std::map<std::string, std::string>;

Result<void> write_update(const std::string& dir, const json::Value& update, Files& given) {
  if (update.as_object() == nullptr) return Error(Errc::kBug, "an update is not an object");
  for (const auto& [name, text] : *update.as_object()) {
    const std::string path = cat(dir, "/", name);
    if (text.is_null()) {
      given.erase(name);
      if (auto removed = sys::remove_file(path); !removed) return std::move(removed).error();
      continue;
    }
    if (text.as_string() == nullptr) return Error(Errc::kBug, "a file is not a text");
    given[name] = *text.as_string();
    MNET_TRY_VOID(sys::replace_file(path, *text.as_string(), 0644));
  }
  return {};
}

// The files of the case that have changed since it began.
Result<json::Object> rewritten(const std::string& dir, const Files& given) {
  json::Object out;
  for (const auto& [name, text] : given) {
    MNET_TRY(const auto& now, sys::find_file(cat(dir, "/", name)));
    if (!now || *now == text) continue;
    MNET_TRY(auto&& document, json::parse(*now));
    out.append(name, std::move(document));
  }
  return out;
}

Result<Files> given_files(const json::Object& input) {
  MNET_TRY(const auto& files, object_of(input, "files"));
  Files given;
  for (const auto& [name, text] : files) {
    if (text.as_string() == nullptr) return Error(Errc::kBug, "a file is not a text");
    given[name] = *text.as_string();
  }
  return given;
}

// The outcome is that of the last generation; one that failed before leaves the text as it was.
Result<json::Object> run_daemon(const json::Object& input) {
  MNET_TRY(auto&& config, daemon_config(input));
  MNET_TRY(const auto& dir, text_of(input, "dir"));
  MNET_TRY(auto&& given, given_files(input));
  MNET_TRY(const auto& updates, array_of(input, "updates"));

  Node node(std::move(config));
  MNET_TRY_VOID(node.choose());
  Result<void> updated = node.update();
  if (!updated) return std::move(updated).error();
  for (const json::Value& update : updates) {
    MNET_TRY_VOID(write_update(dir, update, given));
    updated = node.update();
  }
  if (!updated) return std::move(updated).error();
  MNET_TRY(auto&& out, config_member(node.text()));
  out.set("file", nodeconf::kOwnFile);
  MNET_TRY(auto&& after, rewritten(dir, given));
  out.set("files_after", std::move(after));
  return out;
}

Result<json::Object> select_primary(const json::Object& input) {
  MNET_TRY(const auto& dir, text_of(input, "dir"));
  MNET_TRY(const auto& found, nodeconf::list_candidates(dir));
  if (found.empty()) return nodeconf::no_candidate(dir);
  return json::Object{{"primary", found.front()}};
}

}  // namespace

Group autoconfig_group() {
  return {.name = "autoconfig",
          .selector = "mode",
          .operations = {{"generate", generate},
                         {"daemon", run_daemon},
                         {"select-primary", select_primary},
                         {"thin", generate_thin}}};
}

}  // namespace mnet::vectors
