#include "cni_node/report.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/try.h"
#include "cni_node/command.h"
#include "cni_node/files.h"
#include "cni_node/names.h"
#include "cni_node/plugin_versions.h"
#include "json/json.h"
#include "ledger/ledger.h"
#include "nodetools/output.h"
#include "sys/directory.h"
#include "sys/file.h"

namespace mnet::cni_node {
namespace {

using State = ItemReport::State;

constexpr std::array<std::string_view, 4> kStates = {"present", "changed", "missing", "foreign"};

std::string_view word_of(State state) { return kStates[static_cast<std::size_t>(state)]; }

// What is there, without a judgement.
ItemReport look_at(const Directories& where, std::string_view kind, const std::string& name) {
  const std::string& directory = kind == "plugin" ? where.plugin_target : where.config_target;
  ItemReport out{.kind = std::string(kind), .name = name, .path = cat(directory, "/", name)};
  const auto target = sys::Directory::open(directory, where.host_root);
  if (!target && target.error().code() == Errc::kNotFound) return out;
  const auto there = target ? target->look(name) : target.error();
  if (!there) {
    out.state = State::kChanged;
    out.why = there.error().text();
  } else if (*there) {
    out.state = State::kForeign;
    out.sha256 = (*there)->sha256;
  }
  return out;
}

ItemReport status_of(const Files& files, std::string_view kind, const std::string& name) {
  ItemReport out = look_at(files.directories(), kind, name);
  const auto owned = files.find_owned(out.path);
  if (!owned) return out;
  out.asked = owned->sha256;
  out.version = owned->version;
  if (out.state == State::kForeign) {
    out.state = owned->is_ours(out.sha256) ? State::kPresent : State::kChanged;
  }
  return out;
}

// Compares what is there with what should be.
ItemReport judged(ItemReport item, Result<std::string> asked) {
  if (!asked) {
    item.why = asked.error().text();
    if (item.state == State::kForeign) item.state = State::kChanged;
    return item;
  }
  item.asked = *std::move(asked);
  if (item.state == State::kForeign) {
    item.state = item.sha256 == item.asked ? State::kPresent : State::kChanged;
  }
  return item;
}

ItemReport verify_plugin(const Files& files, const std::string& name, const std::string& pin) {
  const auto asked = [&]() -> Result<std::string> {
    if (!pin.empty()) return pin;
    MNET_TRY(auto&& source, files.open_plugin(name));
    return source.sha256();
  };
  ItemReport out = judged(look_at(files.directories(), "plugin", name), asked());
  if (const auto owned = files.find_owned(out.path)) out.version = owned->version;
  return out;
}

ItemReport verify_config(const Files& files, const std::string& name) {
  const auto asked = [&]() -> Result<std::string> {
    MNET_TRY(const auto& rendered, files.render(name));
    return sha256_hex(rendered.text);
  };
  return judged(look_at(files.directories(), "config", name), asked());
}

// Of files that we own, those in this directory.
Names owned_in(const ledger::Ledger& ledger, const std::string& directory) {
  Names out;
  for (const ledger::OwnedFile& file : ledger.files) {
    if (sys::directory_of(file.path) == directory) {
      out.push_back(file.path.substr(directory.size() + 1));
    }
  }
  return out;
}

bool has_lists(const Command& command) { return command.plugins || command.configs; }

std::string_view or_dash(std::string_view text) { return text.empty() ? "-" : text; }

json::Value value_of(const ItemReport& item) {
  json::Object out{{"kind", item.kind},      {"name", item.name},
                   {"path", item.path},      {"state", std::string(word_of(item.state))},
                   {"sha256", item.sha256},  {"asked", item.asked},
                   {"version", item.version}};
  if (!item.why.empty()) out.set("reason", item.why);
  return out;
}

}  // namespace

std::vector<ItemReport> report_status(const Command& command, const Files& files,
                                      const ledger::Ledger& ledger) {
  const Directories& where = files.directories();
  std::vector<ItemReport> out;
  const auto add = [&](std::string_view kind, const std::optional<Lists>& lists,
                       const std::string& directory) {
    const Names names = lists                ? lists->desired
                        : has_lists(command) ? Names()
                                             : owned_in(ledger, directory);
    for (const std::string& name : names) out.push_back(status_of(files, kind, name));
  };
  add("plugin", command.plugins, where.plugin_target);
  add("config", command.configs, where.config_target);
  return out;
}

std::vector<ItemReport> report_verification(const Command& command, const Files& files,
                                            const ledger::Ledger& ledger) {
  std::vector<ItemReport> out;
  const Lists none;
  const Lists& plugins = command.plugins ? *command.plugins : none;
  const Lists& configs = command.configs ? *command.configs : none;
  for (const std::string& name : has_lists(command) ? plugins.desired : ledger.plugins) {
    out.push_back(verify_plugin(files, name, pin_of(plugins.pins, name)));
  }
  for (const std::string& name : has_lists(command) ? configs.desired : ledger.configs) {
    out.push_back(verify_config(files, name));
  }
  return out;
}

std::string text_of(const std::vector<ItemReport>& items) {
  std::size_t width = 0;
  for (const ItemReport& item : items) width = std::max(width, item.name.size());
  std::string out;
  for (const ItemReport& item : items) {
    out +=
        cat(nodetools::padded(item.kind, 8), nodetools::padded(item.name, width + 2),
            nodetools::padded(word_of(item.state), 9), nodetools::padded(or_dash(item.version), 10),
            or_dash(item.sha256), item.why.empty() ? "" : cat("  ", item.why), "\n");
  }
  return out;
}

std::string json_of(const std::vector<ItemReport>& items) {
  json::Array all;
  for (const ItemReport& item : items) all.push_back(value_of(item));
  return json::dump(json::Object{{"items", std::move(all)}}) + "\n";
}

Result<std::string> list_plugins(const Command& command) {
  const std::string& source = command.directories.plugin_source;
  MNET_TRY(const auto& directory, sys::Directory::open(source));
  MNET_TRY(const auto& entries, sys::list_directory(source));
  std::string out;
  json::Array all;
  for (const sys::Entry& entry : entries) {
    if (entry.name.starts_with('.')) continue;
    auto file = directory.find_blocks(entry.name);
    if (!file || !*file) continue;  // not a regular file, or not one any more
    MNET_TRY(auto&& sha256, (*file)->sha256());
    std::string version = plugin_version(source, entry.name);
    out += command.output == Command::Output::kNames
               ? cat(entry.name, "\n")
               : cat(nodetools::padded(entry.name, 16), " ",
                     nodetools::padded(or_dash(version), 10), " ", sha256, "\n");
    all.emplace_back(json::Object{
        {"name", entry.name}, {"version", std::move(version)}, {"sha256", std::move(sha256)}});
  }
  if (command.output != Command::Output::kJson) return out;
  return json::dump(json::Object{{"plugins", std::move(all)}}) + "\n";
}

}  // namespace mnet::cni_node
