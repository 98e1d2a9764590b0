#include "nodetools/options.h"

#include <unistd.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "sys/write_all.h"

namespace mnet::nodetools {

void EqualsOptions::text(std::string name, std::optional<std::string>* value) {
  options_.push_back({.name = std::move(name), .text = value});
}

void EqualsOptions::boolean(std::string name, bool* value) {
  options_.push_back({.name = std::move(name), .boolean = value});
}

const EqualsOptions::Option* EqualsOptions::find(std::string_view name) const {
  for (const Option& option : options_) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

Result<void> EqualsOptions::parse(const std::vector<std::string>& words) const {
  for (const std::string& word : words) {
    const std::size_t at = word.find('=');
    const std::string name = word.substr(0, at);
    const bool has_value = at != std::string::npos;
    const Option* option = find(name);
    if (option == nullptr || has_value != (option->text != nullptr)) {
      return Error(Errc::kInvalid, cat("Unknown option: ", name));
    }
    if (has_value) {
      *option->text = word.substr(at + 1);
    } else {
      *option->boolean = true;
    }
  }
  return {};
}

int refuse(const Error& error, std::string_view usage) {
  sys::print(STDERR_FILENO, error.code() == Errc::kNotFound ? usage : error.text());
  return 2;
}

}  // namespace mnet::nodetools
