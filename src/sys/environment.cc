#include "sys/environment.h"

#include <unistd.h>

#include <string>
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

std::string boot_id() {
  const auto text = read_file("/proc/sys/kernel/random/boot_id");
  return text ? std::string(trim(*text)) : std::string();
}

}  // namespace mnet::sys
