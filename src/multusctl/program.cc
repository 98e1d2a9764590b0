#include "multusctl/program.h"

#include <unistd.h>

#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "multusctl/about.h"
#include "multusctl/commands.h"
#include "multusctl/invocation.h"
#include "nodetools/output.h"
#include "sys/environment.h"
#include "sys/write_all.h"

namespace mnet::multusctl {

namespace {

std::optional<std::string> typed_line() {
  if (::isatty(STDIN_FILENO) != 1) return std::nullopt;
  std::string line;
  char letter = 0;
  while (::read(STDIN_FILENO, &letter, 1) == 1 && letter != '\n') line += letter;
  return line;
}

}  // namespace

bool is_own_name(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "multusctl" || name == "kubectl-multus";
}

int run_program(std::string_view path, const std::vector<std::string>& words) {
  (void)std::signal(SIGPIPE, SIG_IGN);
  const auto invocation = parse_invocation(path, words);
  if (!invocation) {
    sys::print(STDERR_FILENO, cat("multusctl: ", invocation.error().text()));
    return 2;
  }
  nodetools::ProcessOutput output("multusctl");
  const Command* command = invocation->command;
  if (command == nullptr || invocation->has("help")) {
    output.print(help_text(invocation->program, command));
    return command == nullptr && !invocation->has("help") ? 2 : 0;
  }
  Surroundings surroundings{.output = output,
                            .environment = sys::environment(),
                            .is_terminal = ::isatty(STDOUT_FILENO) == 1,
                            .shows_progress = ::isatty(STDERR_FILENO) == 1,
                            .ask = typed_line};
  return command->run(*invocation, surroundings);
}

}  // namespace mnet::multusctl
