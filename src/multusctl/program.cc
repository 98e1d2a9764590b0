#include "multusctl/program.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "multusctl/about.h"
#include "multusctl/commands.h"
#include "multusctl/hints.h"
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

// Prints hints as this user has to type them: where the program is only there as a plugin of
// kubectl, `multusctl pending` is not a command.
class AsCalled final : public nodetools::Output {
 public:
  AsCalled(nodetools::Output& complaints, const Invocation& invocation)
      : complaints_(complaints), invocation_(invocation) {}

  // Whether all of stdout arrived. A reader that has seen enough (`| head`) is fine.
  const Result<void>& written() const { return written_; }

 private:
  void write(std::string_view text) override {
    if (!written_) return;
    auto written = sys::write_all(
        STDOUT_FILENO, cat(as_called(text, invocation_), text.ends_with('\n') ? "" : "\n"),
        "standard output");
    if (!written && written.error().os_errno() != EPIPE) written_ = std::move(written);
  }
  void write_complaint(std::string_view about, std::string_view reason) override {
    complaints_.complain(about, as_called(reason, invocation_));
  }

  nodetools::Output& complaints_;
  const Invocation& invocation_;
  Result<void> written_;
};

// A command whose answer is lost has failed, whatever it did.
int checked_status(int status, AsCalled& output) {
  if (output.written()) return status;
  output.complain("cannot print", output.written().error().text());
  return status == 0 ? 1 : status;
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
  nodetools::ProcessOutput process("multusctl");
  AsCalled output(process, *invocation);
  const Command* command = invocation->command;
  if (command == nullptr || invocation->has("help")) {
    output.print(help_text(invocation->program, command));
    return command == nullptr && !invocation->has("help") ? 2 : checked_status(0, output);
  }
  Surroundings surroundings{.output = output,
                            .environment = sys::environment(),
                            .is_terminal = ::isatty(STDOUT_FILENO) == 1,
                            .shows_progress = ::isatty(STDERR_FILENO) == 1,
                            .ask = typed_line};
  const int status = command->run(*invocation, surroundings);
  return checked_status(status, output);
}

}  // namespace mnet::multusctl
