#include "nodetools/version_text.h"

#include <string>

#include "base/text.h"
#include "base/version.h"

namespace mnet::nodetools {

std::string version_text() {
  std::string commit(build_version().commit.substr(0, 8));
  const bool is_known =
      commit.size() == 8 && commit.find_first_not_of("0123456789abcdef") == std::string::npos;
  return cat(build_version().version, " (git-", is_known ? commit : "00000000", ")");
}

}  // namespace mnet::nodetools
