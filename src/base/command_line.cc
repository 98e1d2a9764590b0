#include "base/command_line.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/flag_value.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"

namespace mnet {

GoFlags::GoFlags(std::string program, std::string synopsis)
    : program_(std::move(program)), synopsis_(std::move(synopsis)) {}

void GoFlags::add(std::string name, FlagValue value, std::string help) {
  flags_.push_back({std::move(name), value, std::move(help), mnet::shown_default(value)});
}

Result<GoFlags::Outcome> GoFlags::parse(const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word.size() < 2 || word[0] != '-') {
      rest_.assign(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      break;
    }
    if (word == "--") {
      rest_.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      break;
    }
    std::string_view name = word.substr(word[1] == '-' ? 2 : 1);
    if (name.empty() || name[0] == '-' || name[0] == '=') {
      return Error(Errc::kInvalid, cat("bad flag syntax: ", word));
    }
    std::optional<std::string_view> value;
    if (const std::size_t at = name.find('='); at != std::string_view::npos) {
      value = name.substr(at + 1);
      name = name.substr(0, at);
    }
    Flag* flag = find(name);
    if (flag == nullptr) {
      if (name == "h" || name == "help") return Outcome::kHelp;
      return Error(Errc::kInvalid, cat("flag provided but not defined: -", name));
    }
    if (!value && is_boolean(flag->value)) value = "true";
    if (!value) {
      if (i + 1 == words.size()) {
        return Error(Errc::kInvalid, cat("flag needs an argument: -", name));
      }
      value = words[++i];
    }
    MNET_TRY_VOID(set(*flag, *value));
    flag->given = true;
  }
  return Outcome::kRun;
}

bool GoFlags::given(std::string_view name) const {
  for (const Flag& flag : flags_) {
    if (flag.name == name) return flag.given;
  }
  return false;
}

std::string GoFlags::usage() const {
  std::string out = cat("Usage of ", program_, ":\n");
  if (!synopsis_.empty()) out = cat(synopsis_, "\n\n", out);
  for (const Flag& flag : flags_) {
    if (flag.help.empty()) continue;
    out += cat("  -", flag.name);
    if (const auto kind = flag_kind(flag.value); !kind.empty()) out += cat(" ", kind);
    out += cat("\n    \t", flag.help);
    if (!flag.shown_default.empty()) out += cat(" (default ", flag.shown_default, ")");
    out += '\n';
  }
  return out;
}

GoFlags::Flag* GoFlags::find(std::string_view name) {
  for (Flag& flag : flags_) {
    if (flag.name == name) return &flag;
  }
  return nullptr;
}

Result<void> GoFlags::set(Flag& flag, std::string_view text) {
  if (store_flag(flag.value, text)) return {};
  return Error(Errc::kInvalid,
               cat("invalid value ", go_quoted(text), " for flag -", flag.name, ": parse error"));
}

std::vector<std::string> words_of(int argc, char** argv) {
  return {argv + (argc > 0 ? 1 : 0), argv + argc};
}

}  // namespace mnet
