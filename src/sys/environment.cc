#include "sys/environment.h"

#include <unistd.h>

#include <string>
#include <vector>

namespace mnet::sys {

std::vector<std::string> environment() {
  std::vector<std::string> out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    out.emplace_back(*entry);
  }
  return out;
}

}  // namespace mnet::sys
