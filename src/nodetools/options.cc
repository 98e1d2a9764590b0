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
#include "base/version.h"
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
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t at = words[i].find('=');
    const std::string name = words[i].substr(0, at);
    const bool has_value = at != std::string::npos;
    const Option* option = find(name);
    const bool may_follow = option != nullptr && option->text != nullptr && name.starts_with("--");
    if (option == nullptr || (!may_follow && has_value != (option->text != nullptr))) {
      return Error(Errc::kInvalid, cat("Unknown option: ", name));
    }
    if (option->boolean != nullptr) {
      *option->boolean = true;
    } else if (has_value) {
      *option->text = words[i].substr(at + 1);
    } else if (i + 1 < words.size() && !words[i + 1].starts_with("--")) {
      *option->text = words[++i];
    } else {
      return Error(Errc::kInvalid, cat("Missing value: ", name));
    }
  }
  return {};
}

int refuse(const Error& error, std::string_view usage) {
  if (error.code() == Errc::kNotFound) sys::print(STDERR_FILENO, usage);
  if (!error.text().empty()) sys::print(STDERR_FILENO, error.text());
  return 2;
}

std::string version_text() {
  std::string commit(build_version().commit.substr(0, 8));
  const bool is_known =
      commit.size() == 8 && commit.find_first_not_of("0123456789abcdef") == std::string::npos;
  return cat(build_version().version, " (git-", is_known ? commit : "00000000", ")");
}

}  // namespace mnet::nodetools
