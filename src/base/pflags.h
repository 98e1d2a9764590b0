// Command lines in the dialect of Go's `pflag` package (03, 9.2), which the original's helper
// programs speak: GNU long options and one-letter forms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/flag_value.h"
#include "base/result.h"

namespace mnet {

// `--name=value`, `--name value`, `-n value`, `-nvalue`, `-n=value`; a boolean takes its value only
// with `=`, and one-letter booleans may be combined (`-ab`). Flags and other words may alternate;
// after `--` no word is a flag.
class PFlags {
 public:
  // `program` heads the usage text; `synopsis` says in one sentence what the program does.
  PFlags(std::string program, std::string synopsis);

  // How a flag is written and shown.
  struct Name {
    std::string name;
    char letter = 0;                        // of the short form; 0: none
    bool is_hidden = false;                 // left out of usage()
    Name(const char* name) : name(name) {}  // NOLINT(google-explicit-constructor): reads as a name
    Name(std::string name, char letter, bool is_hidden = false)
        : name(std::move(name)), letter(letter), is_hidden(is_hidden) {}
  };

  // The variable of `value` must outlive parse().
  void add(Name name, FlagValue value, std::string help);

  enum class Outcome : std::uint8_t { kRun, kHelp };

  // kHelp for `-h` and `--help`. An error's text is what pflag prints above the usage; the caller
  // prints it with usage() and exits 2.
  Result<Outcome> parse(const std::vector<std::string>& words);

  // The words that are not flags.
  const std::vector<std::string>& rest() const { return rest_; }
  bool given(std::string_view name) const;

  std::string usage() const;

 private:
  struct Flag {
    Name name;
    FlagValue value;
    std::string help;
    std::string shown_default;
    bool given = false;
  };
  using Words = std::vector<std::string>;

  Flag* find(std::string_view name);
  Flag* find_letter(char letter);
  // Both parse the word at `at`, and advance `at` if the next word is the value.
  Result<void> parse_long(const Words& words, std::size_t& at);
  Result<void> parse_letters(const Words& words, std::size_t& at);
  static Result<void> set(Flag& flag, std::string_view text, std::string_view written);

  std::string program_;
  std::string synopsis_;
  std::vector<Flag> flags_;
  std::vector<std::string> rest_;
  bool wants_help_ = false;
};

}  // namespace mnet
