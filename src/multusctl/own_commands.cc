#include <array>
#include <span>
#include <string_view>

#include "multusctl/command_tables.h"
#include "multusctl/commands.h"
#include "multusctl/run_commands.h"

namespace mnet::multusctl {
namespace {

using namespace std::string_view_literals;

constexpr std::array kShells = {"bash"sv, "zsh"sv, "fish"sv};
constexpr std::array kCompletionExamples = {"completion bash > /etc/bash_completion.d/multusctl"sv};
constexpr std::array kVersionOutputs = {"json"sv, "yaml"sv};
constexpr std::array kOutputFlag = {"output"sv};
constexpr std::array kManExamples = {"man | man -l -"sv};

constexpr std::array kCommands = {
    Command{.name = "completion",
            .arguments = "SHELL",
            .summary = "print the completion script of a shell",
            .description = "SHELL is bash, zsh or fish.",
            .flags = {},
            .examples = kCompletionExamples,
            .choices = kShells,
            .run = run_completion},
    Command{.name = "man",
            .arguments = "",
            .summary = "print the manual page",
            .description = "In the format of man(7).",
            .flags = {},
            .examples = kManExamples,
            .run = run_man},
    Command{.name = "version",
            .arguments = "",
            .summary = "print the version",
            .description = "",
            .flags = kOutputFlag,
            .outputs = kVersionOutputs,
            .run = run_version},
};

}  // namespace

std::span<const Command> own_commands() { return kCommands; }

}  // namespace mnet::multusctl
