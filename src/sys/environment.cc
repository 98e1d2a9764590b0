#include "sys/environment.h"

#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "sys/file.h"

namespace mnet::sys {

std::vector<std::string> environment() {
  std::vector<std::string> out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    out.emplace_back(*entry);
  }
  return out;
}

std::string variable(const std::vector<std::string>& environment, std::string_view name) {
  for (const std::string& entry : environment) {
    const std::string_view text = entry;
    if (text.starts_with(name) && text.substr(name.size()).starts_with('=')) {
      return std::string(text.substr(name.size() + 1));
    }
  }
  return {};
}

void set_variable(std::vector<std::string>& environment, std::string_view name,
                  std::string_view value) {
  std::erase_if(environment,
                [&](const std::string& entry) { return entry.starts_with(cat(name, "=")); });
  environment.push_back(cat(name, "=", value));
}

std::string boot_id() {
  const auto text = read_file("/proc/sys/kernel/random/boot_id");
  return text ? std::string(trim(*text)) : std::string();
}

}  // namespace mnet::sys
