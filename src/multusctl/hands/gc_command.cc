#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "multusctl/commands.h"
#include "multusctl/hands/agreement.h"
#include "multusctl/invocation.h"
#include "multusctl/nodes.h"
#include "multusctl/print.h"
#include "multusctl/run_commands.h"

namespace mnet::multusctl {
namespace {

constexpr std::chrono::seconds kPatience{300};  // plugins run

bool has_failed(const NodeItem& one) { return one.item.find("ok") != nullptr && !one.is_ok(); }

std::string table_text(const NodeItems& round, bool with_headers) {
  Table table({"NODE", "CONTAINER", "POD", "ACTION", "REASON", "ERROR"});
  for (const NodeItem& one : round.items) {
    table.add({one.node, one.text("container").substr(0, 13), one.text("pod"), one.text("action"),
               one.text("reason"), one.text("error")});
  }
  return table.empty() ? "nothing to do\n" : table.text(with_headers);
}

Result<NodeItems> ask(const Invocation& invocation, const Surroundings& surroundings, bool is_dry) {
  std::vector<std::string> words = {"gc", is_dry ? "--dry-run" : "--yes"};
  MNET_TRY(const auto& answers,
           ask_nodes(invocation, surroundings,
                     {.here = {.method = "POST",
                               .path = "/gc",
                               .body = json::dump(json::Object{{"dryRun", is_dry}}),
                               .patience = kPatience},
                      .words = std::move(words)}));
  return items_of(answers, "containers");
}

Result<int> collect(const Invocation& invocation, Surroundings& surroundings) {
  const bool is_dry = invocation.has("dry-run");
  if (!is_dry && !invocation.has("yes")) {
    MNET_TRY(const auto& planned, ask(invocation, surroundings, true));
    const std::string plan =
        cat("The daemons' reconcile would do this now:\n", table_text(planned, true));
    if (!agrees(invocation, surroundings, plan)) return 2;
  }
  MNET_TRY(const auto& round, ask(invocation, surroundings, is_dry));
  const std::string format = invocation.text("output");
  const bool is_bad = !round.silent.empty() || std::ranges::any_of(round.items, has_failed);
  if (format == "json" || format == "yaml") {
    (void)print_value(
        json::Object{{"version", 1}, {"dryRun", is_dry}, {"containers", round.to_json()}},
        invocation, surroundings);
  } else {
    surroundings.output.print(table_text(round, !invocation.has("no-headers")));
  }
  for (const std::string& silent : round.silent) surroundings.output.complain("gc", silent);
  return is_bad ? 1 : 0;
}

}  // namespace

int run_gc(const Invocation& invocation, Surroundings& surroundings) {
  const auto done = collect(invocation, surroundings);
  return exit_status(done, invocation, surroundings);
}

}  // namespace mnet::multusctl
