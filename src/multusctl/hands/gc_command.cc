#include "multusctl/hands/gc_command.h"

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/at.h"
#include "json/json.h"
#include "multusctl/commands.h"
#include "multusctl/daemons.h"
#include "multusctl/hands/agreement.h"
#include "multusctl/invocation.h"
#include "multusctl/nodes.h"
#include "multusctl/print.h"

namespace mnet::multusctl {
namespace {

constexpr std::chrono::seconds kPatience{300};  // plugins run
constexpr std::size_t kMostError = 400;

struct Round {
  json::Array containers;           // each with its node
  std::vector<std::string> silent;  // nodes that did not answer, with the reason
  bool has_failures = false;
};

Round round_of(const std::vector<NodeAnswer>& answers) {
  Round round;
  for (const NodeAnswer& one : answers) {
    if (!one.answer) {
      round.silent.push_back(cat(one.node, ": ", one.answer.error().text()));
      continue;
    }
    const json::Array* list = json::as_array(one.answer->find("containers"));
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      const json::Object* item = (*list)[i].as_object();
      if (item == nullptr) continue;
      json::Object container = *item;
      container.set("node", one.node);
      const bool* is_ok = json::as_bool(item->find("ok"));
      round.has_failures |= is_ok != nullptr && !*is_ok;
      round.containers.push_back(std::move(container));
    }
  }
  return round;
}

std::string table_text(const Round& round, bool with_headers) {
  Table table({"NODE", "CONTAINER", "POD", "ACTION", "REASON", "ERROR"});
  for (const json::Value& value : round.containers) {
    const json::Object& one = *value.as_object();
    const auto text = [&one](std::string_view key) {
      return excerpt(json::text_at(one, {key}), kMostError);
    };
    table.add({text("node"), text("container").substr(0, 13), text("pod"), text("action"),
               text("reason"), text("error")});
  }
  return table.empty() ? "nothing to do\n" : table.text(with_headers);
}

Result<Round> ask(const Invocation& invocation, const Surroundings& surroundings, bool is_dry) {
  std::vector<std::string> words = {"gc", is_dry ? "--dry-run" : "--yes"};
  MNET_TRY(const auto& answers,
           ask_nodes(invocation, surroundings,
                     {.here = {.method = "POST",
                               .path = "/gc",
                               .body = json::dump(json::Object{{"dryRun", is_dry}}),
                               .patience = kPatience},
                      .words = std::move(words)}));
  return round_of(answers);
}

Result<int> collect(const Invocation& invocation, Surroundings& surroundings) {
  const bool is_dry = invocation.has("dry-run");
  if (!is_dry && !invocation.has("yes")) {
    MNET_TRY(const auto& planned, ask(invocation, surroundings, true));
    const std::string plan =
        cat("The daemons' reconcile would do this now:\n", table_text(planned, true));
    if (!agrees(invocation, surroundings, plan)) return 2;
  }
  MNET_TRY(auto&& round, ask(invocation, surroundings, is_dry));
  const std::string format = invocation.text("output");
  const bool is_bad = !round.silent.empty() || round.has_failures;
  if (format == "json" || format == "yaml") {
    (void)print_value(
        json::Object{
            {"version", 1}, {"dryRun", is_dry}, {"containers", std::move(round.containers)}},
        invocation, surroundings);
  } else {
    surroundings.output.print(table_text(round, !invocation.has("no-headers")));
  }
  for (const std::string& silent : round.silent) surroundings.output.complain("gc", silent);
  return is_bad ? 1 : 0;
}

}  // namespace

int run_gc(const Invocation& invocation, Surroundings& surroundings) {
  if (!invocation.arguments.empty()) {
    surroundings.output.complain("gc", "takes no arguments; name a node with --node");
    return 2;
  }
  const auto done = collect(invocation, surroundings);
  if (done) return *done;
  surroundings.output.complain("gc", done.error().text());
  return 1;
}

}  // namespace mnet::multusctl
