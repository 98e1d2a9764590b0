// The version of this build, the same for all programs, and the commit it was built from (never the
// time of the build).
#pragma once

#include <string>
#include <string_view>

namespace mnet {

struct Version {
  std::string_view version;     // contents of the file VERSION
  std::string_view commit;      // "unknown" in a tarball
  std::string_view tree_state;  // "clean", "dirty" or "unknown"
  std::string_view date;        // of the commit, RFC 3339
};

const Version& build_version();

// `<program>: version:<v>(<tree state>), commit:<c>, date:<d>`: the form of 03, 2.1.
std::string version_line(std::string_view program);

// `<program>/<version>`: what our programs call themselves in HTTP (RFC 9110, 10.1.5).
std::string user_agent(std::string_view program);

}  // namespace mnet
