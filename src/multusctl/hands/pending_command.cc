#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "multusctl/commands.h"
#include "multusctl/hands/agreement.h"
#include "multusctl/invocation.h"
#include "multusctl/node_socket.h"
#include "multusctl/nodes.h"
#include "multusctl/print.h"
#include "multusctl/run_commands.h"

namespace mnet::multusctl {
namespace {

constexpr std::chrono::seconds kPatience{300};  // plugins run
constexpr std::size_t kShortId = 13;

int print_rows(const NodeItems& found, const Invocation& invocation, Surroundings& surroundings) {
  const std::string format = invocation.text("output");
  if (format == "json" || format == "yaml") {
    (void)print_value(json::Object{{"version", 1}, {"pending", found.to_json()}}, invocation,
                      surroundings);
  } else {
    Table table({"NODE", "ID", "POD", "INTERFACE", "SINCE", "ERROR"});
    for (const NodeItem& row : found.items) {
      std::string id = row.text("id");
      if (format != "wide") id.resize(std::min(id.size(), kShortId));
      table.add({row.node, id, row.text("pod"), row.text("interface"), row.text("since"),
                 row.text("error")});
    }
    if (table.empty()) surroundings.output.print("no pending DELs");
    if (!table.empty()) surroundings.output.print(table.text(!invocation.has("no-headers")));
  }
  for (const std::string& silent : found.silent) surroundings.output.complain("pending", silent);
  return found.silent.empty() ? 0 : 1;
}

class Pending {
 public:
  Pending(const Invocation& invocation, Surroundings& surroundings)
      : invocation_(invocation), surroundings_(surroundings) {}

  Result<int> list() {
    MNET_TRY(const auto& found, fetch());
    return print_rows(found, invocation_, surroundings_);
  }

  // `id` empty: all of them.
  Result<int> act(const std::string& action, const std::string& id) {
    MNET_TRY(auto&& found, fetch());
    std::erase_if(found.items,
                  [&id](const NodeItem& row) { return !row.text("id").starts_with(id); });
    if (found.items.empty() && id.empty()) {
      surroundings_.output.print("no pending DELs");
      return found.silent.empty() ? 0 : 1;
    }
    if (found.items.empty()) {
      return Error(Errc::kNotFound, cat("no pending DEL has an ID that begins with ", excerpt(id)));
    }
    if (!id.empty() && found.items.size() > 1) {
      return Error(Errc::kInvalid,
                   cat("several pending DELs have an ID that begins with ", excerpt(id),
                       ": give more of it (`multusctl pending list -o wide`)"));
    }
    if (!agrees(invocation_, surroundings_, plan_of(action, found.items))) return 2;
    return send(action, id, found.items);
  }

 private:
  Result<NodeItems> fetch() {
    MNET_TRY(const auto& answers,
             ask_nodes(invocation_, surroundings_,
                       {.here = {.path = "/pending"}, .words = {"pending", "list"}}));
    return items_of(answers, "pending");
  }

  static std::string plan_of(const std::string& action, const std::vector<NodeItem>& rows) {
    std::string plan;
    for (const NodeItem& row : rows) {
      const std::string what = cat(row.text("id"), " (pod ", row.text("pod"), ", ",
                                   row.text("interface"), ") on ", row.node, "\n");
      plan += action == "drop"
                  ? cat("Gives up the pending DEL ", what,
                        "  No plugin runs; addresses and links that its plugins hold stay until "
                        "they are freed by hand.\n")
                  : cat("Runs the plugins of the pending DEL ", what);
    }
    return plan;
  }

  Result<int> send(const std::string& action, const std::string& id,
                   const std::vector<NodeItem>& rows) {
    std::set<std::string> nodes;
    for (const NodeItem& row : rows) nodes.insert(row.node);
    const bool is_here = is_about_this_node(invocation_);
    std::vector<std::string> words = {"pending", action, "--yes"};
    json::Object body;
    if (!id.empty()) {
      words.insert(words.begin() + 2, rows.front().text("id"));
      body.set("id", rows.front().text("id"));
    }
    MNET_TRY(const auto& answers,
             ask_nodes(invocation_, surroundings_,
                       {.here = {.method = "POST",
                                 .path = cat("/pending/", action),
                                 .body = json::dump(body),
                                 .patience = kPatience},
                        .words = std::move(words)},
                       is_here ? std::vector<std::string>()
                               : std::vector<std::string>(nodes.begin(), nodes.end())));
    const NodeItems done = items_of(answers, "pending");
    const std::string format = invocation_.text("output");
    if (!format.empty() && format != "wide") {
      (void)print_rows(done, invocation_, surroundings_);
    } else {
      tell(action, done);
    }
    const bool is_all_done =
        done.silent.empty() && std::ranges::all_of(done.items, &NodeItem::is_ok);
    return is_all_done ? 0 : 1;
  }

  void tell(const std::string& action, const NodeItems& done) {
    for (const NodeItem& row : done.items) {
      const std::string what = cat(row.text("id"), " on ", row.node);
      if (!row.is_ok()) {
        surroundings_.output.complain(what, cat("still pending: ", row.text("error")));
      } else {
        surroundings_.output.print(action == "drop"
                                       ? cat(what,
                                             ": given up; its records are removed with the next "
                                             "round, or now by `multusctl gc`")
                                       : cat(what, ": done"));
      }
    }
    for (const std::string& silent : done.silent) surroundings_.output.complain("pending", silent);
  }

  const Invocation& invocation_;
  Surroundings& surroundings_;
};

}  // namespace

int run_pending(const Invocation& invocation, Surroundings& surroundings) {
  const auto& words = invocation.arguments;
  const std::string action = words.empty() ? "list" : words.front();
  const std::size_t most = action == "list" ? 1 : 2;
  const bool is_known = action == "list" || action == "retry" || action == "drop";
  if (!is_known || words.size() > most || (action == "drop" && words.size() != 2)) {
    surroundings.output.complain("pending", "expected list, retry [ID] or drop ID");
    return 2;
  }
  Pending pending(invocation, surroundings);
  const auto done = action == "list"
                        ? pending.list()
                        : pending.act(action, words.size() > 1 ? words[1] : std::string());
  return exit_status(done, invocation, surroundings);
}

}  // namespace mnet::multusctl
