// Command lines in the dialect of Go's `flag` package (03, 2.1), which the original's programs
// speak.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/flag_value.h"
#include "base/result.h"

namespace mnet {

// `-name`, `--name`, `-name=value`, `-name value`; a boolean takes its value only with `=`. Parsing
// stops at the first word that is not a flag, or after `--`.
class GoFlags {
 public:
  // `program` heads the usage text; `synopsis` says in one sentence what the program does.
  GoFlags(std::string program, std::string synopsis);

  // The variable of `value` must outlive parse(). A flag without help is left out of usage().
  void add(std::string name, FlagValue value, std::string help);

  enum class Outcome : std::uint8_t { kRun, kHelp };

  // kHelp for `-h` and `-help`. An error's text is what Go prints above the usage; the caller
  // prints it with usage() and exits 2.
  Result<Outcome> parse(const std::vector<std::string>& words);

  // The words after the flags.
  const std::vector<std::string>& rest() const { return rest_; }
  // Whether the flag was given, under exactly this name.
  bool given(std::string_view name) const;

  std::string usage() const;

 private:
  struct Flag {
    std::string name;
    FlagValue value;
    std::string help;
    std::string shown_default;
    bool given = false;
  };

  Flag* find(std::string_view name);
  static Result<void> set(Flag& flag, std::string_view text);

  std::string program_;
  std::string synopsis_;
  std::vector<Flag> flags_;
  std::vector<std::string> rest_;
};

// argv without the program's name.
std::vector<std::string> words_of(int argc, char** argv);

}  // namespace mnet
