#include "multusctl/node_status.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "json/at.h"
#include "json/json.h"
#include "multusctl/print.h"

namespace mnet::multusctl {
namespace {

// The text of a node that may not be what it says it is, for a terminal.
std::string shown(const json::Object& object, std::initializer_list<std::string_view> keys) {
  return excerpt(json::text_at(object, keys), 400);
}

std::vector<std::string> texts_at(const json::Object& status, std::string_view key) {
  std::vector<std::string> texts;
  for (const json::Value& text : json::elements_of(status.find(key))) {
    texts.push_back(excerpt(json::text_of(&text), 400));
  }
  return texts;
}

std::string work_at(const json::Object& status, std::string_view key) {
  return cat(json::number_at(status, {key, "running"}), "+",
             json::number_at(status, {key, "waiting"}));
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::vector<std::string> cells_of(const json::Object& status, const std::string& node,
                                  bool is_wide) {
  std::vector<std::string> cells = {node,
                                    shown(status, {"multus"}),
                                    json::is_true(status.find("ready")) ? "yes" : "no",
                                    base_name(shown(status, {"primary", "file"})),
                                    work_at(status, "requests"),
                                    work_at(status, "delegates"),
                                    cat(json::number_at(status, {"containers"})),
                                    cat(json::number_at(status, {"pendingDels"})),
                                    cat(json::number_at(status, {"podsWithoutNetworks"}))};
  if (!is_wide) return cells;
  cells.push_back(shown(status, {"primary", "why"}));
  cells.push_back(shown(status, {"objects", "from"}));
  cells.push_back(join(texts_at(status, "missingPlugins"), ","));
  cells.push_back(shown(status, {"certificateEnd"}));
  cells.push_back(shown(status, {"tokenEnd"}));
  return cells;
}

// `1 pending DEL`, `3 pending DELs`
std::string counted(std::int64_t count, std::string_view what) {
  return cat(count, " ", what, count == 1 ? "" : "s");
}

void add_counts(const json::Object& status, std::vector<std::string>& out) {
  if (const auto count = json::number_at(status, {"pendingDels"}); count > 0) {
    out.push_back(cat(counted(count, "pending DEL"),
                      ": the daemon retries each at least every ten minutes; `multusctl pending` "
                      "shows why"));
  }
  if (const auto count = json::number_at(status, {"podsWithoutNetworks"}); count > 0) {
    out.push_back(cat(counted(count, "pod"),
                      " without the networks asked for: `multusctl pods -A` lists them; delete "
                      "them, and their replacements are attached"));
  }
}

// What the node's self-check says, too, and in more words.
void add_self_checked(const json::Object& status, std::vector<std::string>& out) {
  if (auto lacks = shown(status, {"objects", "lacks"}); !lacks.empty()) {
    out.push_back(cat("cannot read objects: ", lacks));
  }
  if (const auto count = json::number_at(status, {"damagedDels"}); count > 0) {
    out.push_back(cat(counted(count, "damaged pending DEL"),
                      " in pending-del/bad below cniDir: free by hand what they hold, then remove "
                      "the files"));
  }
  if (const auto missing = texts_at(status, "missingPlugins"); !missing.empty()) {
    out.push_back(cat("plugins missing on the node: ", join(missing, ", "),
                      ": install them, or correct the definitions (`multusctl lint --cluster`)"));
  }
}

}  // namespace

Result<NodeStatus> NodeStatus::parse(std::string node, json::Object object) {
  if (json::number_at(object, {"version"}) != 1) {
    return Error(Errc::kProtocol,
                 "the daemon's status is of another version: use the multusctl of its release");
  }
  node = node.empty() ? shown(object, {"node"}) : excerpt(node);
  return NodeStatus{.node = std::move(node), .status = std::move(object)};
}

Table status_table(const std::vector<NodeStatus>& nodes, bool is_wide) {
  std::vector<std::string> headers = {"NODE",      "VERSION",    "READY",   "PRIMARY", "REQUESTS",
                                      "DELEGATES", "CONTAINERS", "PENDING", "MISSED"};
  if (is_wide) {
    for (const char* more : {"CHOSEN", "OBJECTS", "MISSING-PLUGINS", "CERTIFICATE", "TOKEN"}) {
      headers.emplace_back(more);
    }
  }
  Table table(headers);
  for (const NodeStatus& node : nodes) {
    if (node.status) {
      table.add(cells_of(*node.status, node.node, is_wide));
    } else {
      std::vector<std::string> cells(headers.size(), "?");
      cells[0] = node.node;
      cells[2] = "unknown";
      table.add(std::move(cells));
    }
  }
  return table;
}

std::vector<std::string> troubles_of(const NodeStatus& node, Beside beside) {
  if (!node.status) return {node.why};
  const json::Object& status = *node.status;
  std::vector<std::string> out;
  if (!json::is_true(status.find("ready")))
    out.push_back(cat("not ready: ", shown(status, {"reason"})));
  if (beside != Beside::kSelfCheck) add_self_checked(status, out);
  add_counts(status, out);
  return out;
}

std::string last_error_of(const NodeStatus& node) {
  const auto errors =
      node.status ? texts_at(*node.status, "lastErrors") : std::vector<std::string>();
  return errors.empty() ? std::string() : cat("last error: ", errors.back());
}

Result<PluginNames> plugins_of(const std::vector<NodeStatus>& nodes) {
  PluginNames all;
  for (const NodeStatus& node : nodes) {
    if (!node.status) return Error(Errc::kUnavailable, cat("node ", node.node, ": ", node.why));
    if (json::as_array(node.status->find("plugins")) == nullptr) {
      return Error(Errc::kUnavailable, cat("node ", node.node,
                                           ": the daemon does not list its plugins: it cannot see "
                                           "their directory, or is an older version"));
    }
    for (std::string& name : texts_at(*node.status, "plugins")) all.insert(std::move(name));
  }
  return all;
}

json::Object to_json(const std::vector<NodeStatus>& nodes) {
  json::Array list;
  for (const NodeStatus& node : nodes) {
    json::Object one{{"node", node.node}};
    if (node.status) {
      one.set("status", *node.status);
    } else {
      one.set("error", node.why);
    }
    list.push_back(std::move(one));
  }
  return json::Object{{"version", 1}, {"nodes", std::move(list)}};
}

}  // namespace mnet::multusctl
