#include "multusctl/invocation.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/integer.h"
#include "base/pflags.h"
#include "base/result.h"
#include "base/spelling.h"
#include "base/text.h"
#include "base/try.h"
#include "multusctl/commands.h"

namespace mnet::multusctl {
namespace {

std::string program_of(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "kubectl-multus" ? "kubectl multus" : "multusctl";
}

Error unknown_command(const std::string& program, const std::string& word) {
  std::vector<std::string_view> names;
  for (const Command& command : all_commands()) names.push_back(command.name);
  return Error(Errc::kInvalid, cat("unknown command ", go_quoted(word), suggestion(word, names),
                                   "\nRun '", program, " --help' for the list of commands."));
}

std::string pointer_to_help(const std::string& program, const Command* command) {
  return cat("\nRun '", program, command == nullptr ? "" : " ",
             command == nullptr ? "" : command->name, " --help' for its flags.");
}

// Which command it is may be said after the flag that is not one.
Error wrong_flag(const Error& error, const std::string& program,
                 const std::vector<std::string>& words) {
  const auto named =
      std::ranges::find_if(words, [](const auto& word) { return find_command(word) != nullptr; });
  const Command* command = named == words.end() ? nullptr : find_command(*named);
  return error.with_text(cat(error.text(), pointer_to_help(program, command)));
}

Result<void> check_words(const Invocation& line) {
  if (line.command->arguments.empty() && !line.arguments.empty()) {
    return Error(Errc::kInvalid, cat(line.command->name, " takes no arguments, such as ",
                                     go_quoted(line.arguments.front()),
                                     pointer_to_help(line.program, line.command)));
  }
  const auto is_number = seconds_of(line, "timeout", std::chrono::seconds(1));
  return is_number ? Result<void>() : is_number.error();
}

Result<void> check_flags(const Invocation& line, const PFlags& flags) {
  for (const Flag& flag : all_flags()) {
    if (!flags.given(flag.name) || is_global(flag.name)) continue;
    const auto taken = line.command->flags;
    if (std::ranges::find(taken, flag.name) == taken.end()) {
      return Error(Errc::kInvalid, cat(line.command->name, " has no flag --", flag.name,
                                       pointer_to_help(line.program, line.command)));
    }
  }
  const std::string output = line.text("output");
  const auto known = line.command->outputs;
  const bool is_file = !line.command->output_file.empty();
  if (!output.empty() && !is_file && std::ranges::find(known, output) == known.end()) {
    return Error(Errc::kInvalid, cat("-o ", excerpt(output), ": ", line.command->name, " supports ",
                                     join({known.begin(), known.end()}, ", ")));
  }
  return {};
}

}  // namespace

Result<std::chrono::seconds> seconds_of(const Invocation& invocation, std::string_view flag,
                                        std::chrono::seconds otherwise) {
  const std::string text = invocation.text(flag);
  if (text.empty()) return otherwise;
  const int number = parse_integer<int>(text).value_or(0);
  if (number < 1 || number > 3600) {
    return Error(Errc::kInvalid,
                 cat("--", flag, " ", excerpt(text), ": expected seconds, 1 to 3600"));
  }
  return std::chrono::seconds(number);
}

Result<Invocation> parse_invocation(std::string_view path, const std::vector<std::string>& words) {
  if (words == std::vector<std::string>{"--version"}) return parse_invocation(path, {"version"});
  Invocation line{.program = program_of(path)};
  std::map<std::string, std::string, std::less<>> texts;
  std::map<std::string, bool, std::less<>> switches;
  PFlags flags(line.program, "");
  for (const Flag& flag : all_flags()) {
    const std::string name(flag.name);
    if (name == "help") continue;  // PFlags has it
    if (flag.placeholder.empty()) {
      flags.add({name, flag.letter}, &switches[name], "");
    } else {
      flags.add({name, flag.letter}, &texts[name], "");
    }
  }
  const auto outcome = flags.parse(words);
  if (!outcome) return wrong_flag(outcome.error(), line.program, words);
  for (auto& [name, value] : texts) {
    if (flags.given(name)) line.texts.emplace(name, std::move(value));
  }
  for (const auto& [name, is_on] : switches) {
    if (is_on) line.switches.insert(name);
  }
  if (*outcome == PFlags::Outcome::kHelp) line.switches.insert("help");
  line.arguments = flags.rest();
  if (!line.arguments.empty() && line.arguments.front() == "help") {  // `help COMMAND`
    line.switches.insert("help");
    line.arguments.erase(line.arguments.begin());
  }
  if (line.arguments.empty()) return line;
  line.command = find_command(line.arguments.front());
  if (line.command == nullptr) return unknown_command(line.program, line.arguments.front());
  line.arguments.erase(line.arguments.begin());
  MNET_TRY_VOID(check_flags(line, flags));
  if (!line.has("help")) {
    MNET_TRY_VOID(check_words(line));
  }
  return line;
}

}  // namespace mnet::multusctl
