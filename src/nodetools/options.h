// Command lines as cni-node and kube-watch speak them (04, 1.1 and 2.1): a value follows its `=`
// or, of a long option, is the next word; everything that is not known is refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"

namespace mnet::nodetools {

class EqualsOptions {
 public:
  // `name` with its dashes; a short form is another name of the same variable. Both variables must
  // outlive parse().
  void text(std::string name, std::optional<std::string>* value);
  void boolean(std::string name, bool* value);  // only without a value

  // The last of several wins. The error is what the user shall read:
  // `Unknown option: <text before the first '='>`, or `Missing value: <option>`. A next word
  // that begins with two dashes is not a value.
  Result<void> parse(const std::vector<std::string>& words) const;

 private:
  struct Option {
    std::string name;
    std::optional<std::string>* text = nullptr;
    bool* boolean = nullptr;
  };
  const Option* find(std::string_view name) const;

  std::vector<Option> options_;
};

// Tells of a command line that cannot be carried out: the error, or for kNotFound (nothing to do is
// named) the usage, and below it the error if it says more. Yields the exit status.
int refuse(const Error& error, std::string_view usage);

// The version as both tools print it: `<version> (git-<8 hexadecimal digits>)` (04, 1.1). Without a
// known commit the digits are zeros.
std::string version_text();

}  // namespace mnet::nodetools
