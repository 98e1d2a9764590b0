#include "base/pflags.h"

#include <algorithm>
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
namespace {

Error invalid(std::string text) { return {Errc::kInvalid, std::move(text)}; }

}  // namespace

PFlags::PFlags(std::string program, std::string synopsis)
    : program_(std::move(program)), synopsis_(std::move(synopsis)) {
  add({"help", 'h'}, &wants_help_, "show this text");
}

void PFlags::add(Name name, FlagValue value, std::string help) {
  std::string shown = mnet::shown_default(value);
  flags_.push_back({std::move(name), value, std::move(help), std::move(shown)});
}

Result<PFlags::Outcome> PFlags::parse(const Words& words) {
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string_view word = words[at];
    if (word.size() < 2 || word[0] != '-') {
      rest_.emplace_back(word);
    } else if (word == "--") {
      rest_.insert(rest_.end(), words.begin() + static_cast<std::ptrdiff_t>(at) + 1, words.end());
      break;
    } else {
      MNET_TRY_VOID(word[1] == '-' ? parse_long(words, at) : parse_letters(words, at));
    }
  }
  return wants_help_ ? Outcome::kHelp : Outcome::kRun;
}

Result<void> PFlags::parse_long(const Words& words, std::size_t& at) {
  const std::string_view word = words[at];
  std::string_view name = word.substr(2);
  if (name[0] == '-' || name[0] == '=') return invalid(cat("bad flag syntax: ", word));
  std::optional<std::string_view> value;
  if (const std::size_t equals = name.find('='); equals != std::string_view::npos) {
    value = name.substr(equals + 1);
    name = name.substr(0, equals);
  }
  Flag* flag = find(name);
  if (flag == nullptr) return invalid(cat("unknown flag: --", name));
  if (!value && is_boolean(flag->value)) value = "true";
  if (!value) {
    if (at + 1 == words.size()) return invalid(cat("flag needs an argument: --", name));
    value = words[++at];
  }
  return set(*flag, *value, cat("--", name));
}

Result<void> PFlags::parse_letters(const Words& words, std::size_t& at) {
  const std::string_view word = words[at];
  for (std::string_view letters = word.substr(1); !letters.empty();) {
    Flag* flag = find_letter(letters[0]);
    const std::string written = cat("-", letters[0]);
    if (flag == nullptr) {
      return invalid(cat("unknown shorthand flag: '", letters[0], "' in -", letters));
    }
    letters.remove_prefix(1);
    if (letters.starts_with('=')) return set(*flag, letters.substr(1), written);
    if (is_boolean(flag->value)) {
      MNET_TRY_VOID(set(*flag, "true", written));
      continue;
    }
    if (!letters.empty()) return set(*flag, letters, written);
    if (at + 1 == words.size()) {
      return invalid(cat("flag needs an argument: '", written.substr(1), "' in ", written));
    }
    return set(*flag, words[++at], written);
  }
  return {};
}

Result<void> PFlags::set(Flag& flag, std::string_view text, std::string_view written) {
  if (!store_flag(flag.value, text)) {
    return invalid(cat("invalid argument ", go_quoted(text), " for ", go_quoted(written),
                       " flag: invalid syntax"));
  }
  flag.given = true;
  return {};
}

bool PFlags::given(std::string_view name) const {
  return std::ranges::any_of(
      flags_, [&](const Flag& flag) { return flag.name.name == name && flag.given; });
}

std::string PFlags::usage() const {
  const auto left_part = [](const Flag& flag) {
    const std::string letter =
        flag.name.letter == 0 ? std::string("    ") : cat("-", flag.name.letter, ", ");
    const std::string_view kind = flag_kind(flag.value);
    return cat("  ", letter, "--", flag.name.name, kind.empty() ? "" : " ", kind);
  };
  std::size_t width = 0;
  for (const Flag& flag : flags_) {
    if (!flag.name.is_hidden) width = std::max(width, left_part(flag).size());
  }

  std::string out = cat("Usage of ", program_, ":\n");
  if (!synopsis_.empty()) out = cat(synopsis_, "\n\n", out);
  for (const Flag& flag : flags_) {
    if (flag.name.is_hidden) continue;
    std::string left = left_part(flag);
    left.resize(width, ' ');
    out += cat(left, "   ", flag.help);
    if (!flag.shown_default.empty()) out += cat(" (default ", flag.shown_default, ")");
    out += '\n';
  }
  return out;
}

PFlags::Flag* PFlags::find(std::string_view name) {
  const auto found =
      std::ranges::find_if(flags_, [&](const Flag& flag) { return flag.name.name == name; });
  return found == flags_.end() ? nullptr : &*found;
}

PFlags::Flag* PFlags::find_letter(char letter) {
  const auto found =
      std::ranges::find_if(flags_, [&](const Flag& flag) { return flag.name.letter == letter; });
  return letter == 0 || found == flags_.end() ? nullptr : &*found;
}

}  // namespace mnet
