#include "multusctl/about.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "base/utf8.h"
#include "base/version.h"
#include "json/json.h"
#include "multusctl/commands.h"
#include "multusctl/invocation.h"
#include "multusctl/print.h"
#include "multusctl/run_commands.h"
#include "nodetools/output.h"

namespace mnet::multusctl {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kPurpose =
    "Shows, explains, checks and repairs Multus, from outside a cluster or on a node.";

bool is_file_to_write(const Flag& flag, const Command* command) {
  return flag.name == "output" && command != nullptr && !command->output_file.empty();
}

std::string flag_names(const Flag& flag, const Command* command) {
  const std::string letter = flag.letter == 0 ? "    " : cat("-", flag.letter, ", ");
  const std::string_view value = is_file_to_write(flag, command) ? "FILE" : flag.placeholder;
  return cat(letter, "--", flag.name, value.empty() ? "" : " ", value);
}

std::string flag_help(const Flag& flag, const Command* command) {
  if (flag.name != "output" || command == nullptr) return std::string(flag.help);
  if (is_file_to_write(flag, command)) return std::string(command->output_file);
  return cat(flag.help, ": ", join({command->outputs.begin(), command->outputs.end()}, ", "));
}

// The flags of a command, its own first.
std::vector<const Flag*> flags_of(const Command* command) {
  std::vector<const Flag*> flags;
  if (command != nullptr) {
    for (const std::string_view name : command->flags) {
      flags.push_back(&flag_of(*command, name));
    }
  }
  for (const Flag& flag : all_flags()) {
    if (is_global(flag.name)) flags.push_back(&flag);
  }
  return flags;
}

// Lines of at most 80 columns.
std::string wrapped(std::string_view text) {
  std::string out;
  for (const std::string_view paragraph : split(text, '\n')) {
    std::size_t column = 0;
    for (const std::string_view word : split(paragraph, ' ')) {
      if (column > 0 && column + 1 + word.size() > 80) {
        out += '\n';
        column = 0;
      }
      if (column > 0) out += ' ';
      out += word;
      column += word.size() + (column > 0 ? 1 : 0);
    }
    out += '\n';
  }
  return out;
}

// The summary of a command, which is a line of a list elsewhere, as a sentence.
std::string sentence(std::string_view summary) {
  std::string out = cat(summary, ".");
  if (out.front() >= 'a' && out.front() <= 'z') out.front() = static_cast<char>(out.front() - 32);
  return out;
}

std::string usage_line(std::string_view program, const Command& command) {
  return cat(program, " ", command.name, command.arguments.empty() ? "" : " ", command.arguments,
             " [flags]");
}

// A hyphen is one of a command line, not of a word. Characters beyond ASCII are named, by four
// digits: not every roff reads UTF-8.
std::string roff(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const CodePoint c = decode_utf8(text);
    if (c.value == U'-') {
      out += "\\-";
    } else if (c.value == U'\\') {
      out += "\\e";
    } else if (c.value > 0x7E) {
      out += "\\[u";
      for (int shift = 12; shift >= 0; shift -= 4)
        out += "0123456789ABCDEF"[c.value >> shift & 0xF];
      out += ']';
    } else {
      out += text.front();
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

std::string roff_paragraphs(std::string_view text) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) {
    out += line.empty() ? ".PP\n"
                        : cat(line.starts_with('.') || line.starts_with('\'') ? "\\&" : "",
                              roff(line), "\n");
  }
  return out;
}

std::string roff_flags(const std::vector<const Flag*>& flags, const Command* command) {
  std::string out;
  for (const Flag* flag : flags) {
    out += cat(".TP\n\\fB", roff(trim(flag_names(*flag, command))), "\\fR\n",
               roff(flag_help(*flag, command)), "\n");
  }
  return out;
}

std::string roff_command(const Command& command) {
  std::string out = cat(".SS ", roff(usage_line("multusctl", command)), "\n",
                        roff(sentence(command.summary)), "\n");
  if (!command.description.empty()) out += cat(".PP\n", roff_paragraphs(command.description));
  std::vector<const Flag*> own;
  for (const std::string_view name : command.flags) own.push_back(&flag_of(command, name));
  out += roff_flags(own, &command);
  for (const std::string_view example : command.examples) {
    out += cat(".PP\n.RS\nmultusctl ", roff(example), "\n.RE\n");
  }
  return out;
}

std::string words_of_flags(const Command* command) {
  std::string words;
  for (const Flag* flag : flags_of(command))
    words += cat(words.empty() ? "" : " ", "--", flag->name);
  return words;
}

std::string bash_script() {
  std::string names, cases;
  for (const Command& command : all_commands()) {
    names += cat(names.empty() ? "" : " ", command.name);
    cases += cat("    ", command.name, ") words=\"", words_of_flags(&command), "\"; choices=\"",
                 join({command.choices.begin(), command.choices.end()}, " "), "\"; outputs=\"",
                 join({command.outputs.begin(), command.outputs.end()}, " "), "\" ;;\n");
  }
  return cat(
      "# bash completion of multusctl and kubectl-multus\n"
      "_multusctl() {\n"
      "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
      "  local command= words= choices= outputs= i\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \"${COMP_WORDS[i]}\" in -*) ;; *) command=\"${COMP_WORDS[i]}\"; break ;; esac\n"
      "  done\n"
      "  case \"$command\" in\n",
      cases, "    *) words=\"", words_of_flags(nullptr), "\"; choices=\"", names,
      "\" ;;\n"
      "  esac\n"
      "  case \"$prev\" in -o|--output) words=\"\"; choices=\"$outputs\" ;; esac\n"
      "  case \"$cur\" in\n"
      "    -*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
      "    *) COMPREPLY=($(compgen -W \"$choices\" -- \"$cur\") $(compgen -f -- \"$cur\")) ;;\n"
      "  esac\n"
      "  [ -n \"$choices\" ] && COMPREPLY=($(compgen -W \"$choices $words\" -- \"$cur\"))\n"
      "}\n"
      "complete -o filenames -F _multusctl multusctl kubectl-multus\n");
}

// A word of zsh or fish.
std::string shell_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// What follows a flag in zsh; empty: nothing.
std::string zsh_value(const Flag& flag, const Command& command) {
  if (flag.placeholder.empty()) return {};
  if (flag.name == "output" && !is_file_to_write(flag, &command)) {
    return cat(":value:(", join({command.outputs.begin(), command.outputs.end()}, " "), ")");
  }
  constexpr std::array kPaths = {"FILE"sv, "DIR"sv, "PATH"sv};
  const bool is_path =
      flag.name == "output" || std::ranges::find(kPaths, flag.placeholder) != kPaths.end();
  return is_path ? ":value:_files" : ":value:";
}

std::string zsh_flag(const Flag& flag, const Command& command) {
  const std::string rest = cat("[", flag_help(flag, &command), "]", zsh_value(flag, command));
  const std::string letter = flag.letter == 0 ? "" : shell_word(cat("-", flag.letter, rest));
  return cat(" ", shell_word(cat("--", flag.name, flag.placeholder.empty() ? "" : "=", rest)),
             letter.empty() ? "" : " ", letter);
}

std::string zsh_script() {
  std::string names, cases;
  for (const Command& command : all_commands()) {
    names += cat("    ", shell_word(cat(command.name, ":", command.summary)), "\n");
    cases += cat("    ", command.name, ") _arguments");
    for (const Flag* flag : flags_of(&command)) cases += zsh_flag(*flag, command);
    const std::string choices = join({command.choices.begin(), command.choices.end()}, " ");
    cases += cat(" '*:argument:", choices.empty() ? "_files" : cat("(", choices, ")"), "' ;;\n");
  }
  return cat("#compdef multusctl kubectl-multus\n_multusctl() {\n  local -a commands=(\n", names,
             "  )\n  if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
             "  local command=$words[2]\n  shift words; (( CURRENT-- ))\n"
             "  case $command in\n",
             cases,
             "  esac\n}\n"
             // The file of an autoloaded function is run at the first call, which is to complete.
             "if [ \"$funcstack[1]\" = _multusctl ]; then _multusctl \"$@\"; else\n"
             "  compdef _multusctl multusctl kubectl-multus\nfi\n");
}

std::string fish_script() {
  std::string out =
      "# fish completion of multusctl and kubectl-multus\n"
      "complete -c kubectl-multus -w multusctl\n";
  for (const Command& command : all_commands()) {
    const std::string in = cat("__fish_seen_subcommand_from ", command.name);
    out += cat("complete -c multusctl -f -n __fish_use_subcommand -a ", command.name, " -d ",
               shell_word(command.summary), "\n");
    for (const Flag* flag : flags_of(&command)) {
      out += cat("complete -c multusctl -n '", in, "' -l ", flag->name,
                 flag->letter == 0 ? "" : cat(" -s ", flag->letter),
                 flag->placeholder.empty() ? "" : " -r");
      if (flag->name == "output") {
        out += cat(" -f -a '", join({command.outputs.begin(), command.outputs.end()}, " "), "'");
      }
      out += cat(" -d ", shell_word(flag_help(*flag, &command)), "\n");
    }
    if (!command.choices.empty()) {
      out += cat("complete -c multusctl -f -n '", in, "' -a '",
                 join({command.choices.begin(), command.choices.end()}, " "), "'\n");
    }
  }
  return out;
}

}  // namespace

std::string help_text(std::string_view program, const Command* command) {
  std::string out;
  if (command == nullptr) {
    out += cat(kPurpose, "\n\nUsage:\n  ", program, " COMMAND [flags]\n\nCommands:\n");
    for (const Command& one : all_commands()) {
      out += cat("  ", nodetools::padded(one.name, 12), one.summary, "\n");
    }
  } else {
    out += cat(wrapped(sentence(command->summary)), command->description.empty() ? "" : "\n",
               command->description.empty() ? std::string() : wrapped(command->description),
               "\nUsage:\n  ", usage_line(program, *command), "\n");
  }
  out += "\nFlags:\n";
  for (const Flag* flag : flags_of(command)) {
    out += cat("  ", nodetools::padded(flag_names(*flag, command), 28), flag_help(*flag, command),
               "\n");
  }
  if (command != nullptr && !command->examples.empty()) {
    out += "\nExamples:\n";
    for (const std::string_view example : command->examples)
      out += cat("  ", program, " ", example, "\n");
  }
  if (command == nullptr)
    out += cat("\n'", program, " COMMAND --help' tells more about a command.\n");
  return out;
}

std::string man_page() {
  std::vector<const Flag*> global = flags_of(nullptr);
  std::string out =
      cat(".TH MULTUSCTL 1 \"\" \"", build_version().version,
          "\"\n.SH NAME\nmultusctl, kubectl\\-multus \\- ", roff(kPurpose),
          "\n.SH SYNOPSIS\n\\fBmultusctl\\fR COMMAND [flags]\n.br\n\\fBkubectl multus\\fR "
          "COMMAND [flags]\n.SH COMMANDS\n");
  for (const Command& command : all_commands()) out += roff_command(command);
  out += cat(".SH GLOBAL FLAGS\n", roff_flags(global, nullptr));
  out +=
      ".SH ENVIRONMENT\n.TP\n\\fBKUBECONFIG\\fR\nkubeconfig files, separated by colons; of entries "
      "with the same name the first counts.\n.TP\n\\fBNO_COLOR\\fR\nif set and not empty, nothing "
      "is printed in "
      "colour.\n.SH EXIT STATUS\n0: success. 1: failure, or errors were found. 2: the command "
      "line is wrong.\n";
  return out;
}

std::string completion_script(std::string_view shell) {
  if (shell == "bash") return bash_script();
  if (shell == "zsh") return zsh_script();
  return shell == "fish" ? fish_script() : std::string();
}

int run_version(const Invocation& invocation, Surroundings& surroundings) {
  const Version& version = build_version();
  if (invocation.text("output").empty()) {
    surroundings.output.print(version_line("multusctl"));
    return 0;
  }
  return print_value(json::Object{{"version", version.version},
                                  {"commit", version.commit},
                                  {"treeState", version.tree_state},
                                  {"date", version.date}},
                     invocation, surroundings);
}

int run_completion(const Invocation& invocation, Surroundings& surroundings) {
  const std::string shell = invocation.arguments.size() == 1 ? invocation.arguments.front() : "";
  const std::string script = completion_script(shell);
  if (script.empty()) {
    surroundings.output.complain("completion", "name one shell: bash, zsh or fish");
    return 2;
  }
  surroundings.output.print(script);
  return 0;
}

int run_man(const Invocation&, Surroundings& surroundings) {
  surroundings.output.print(man_page());
  return 0;
}

}  // namespace mnet::multusctl
