#include <string>
#include <string_view>

#include "base/text.h"
#include "base/version.h"

namespace mnet {

std::string version_line(std::string_view program) {
  const Version& v = build_version();
  return cat(program, ": version:", v.version, "(", v.tree_state, "), commit:", v.commit,
             ", date:", v.date);
}

std::string user_agent(std::string_view program) {
  return cat(program, "/", build_version().version);
}

}  // namespace mnet
