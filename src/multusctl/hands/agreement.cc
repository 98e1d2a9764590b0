#include "multusctl/hands/agreement.h"

#include <optional>
#include <string_view>

#include "base/text.h"
#include "multusctl/commands.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

bool agrees(const Invocation& invocation, Surroundings& surroundings, std::string_view plan) {
  if (invocation.has("yes")) return true;
  surroundings.output.print(plan);
  surroundings.output.print("Continue? [y/N]");
  const auto answer = surroundings.ask ? surroundings.ask() : std::nullopt;
  if (!answer) {
    surroundings.output.complain(invocation.command->name,
                                 "there is no terminal to ask on: add --yes");
    return false;
  }
  const bool is_yes =
      equal_ignoring_case(trim(*answer), "y") || equal_ignoring_case(trim(*answer), "yes");
  if (!is_yes) surroundings.output.complain(invocation.command->name, "nothing was done");
  return is_yes;
}

}  // namespace mnet::multusctl
