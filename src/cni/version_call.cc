#include "cni/version_call.h"

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "cni/version.h"

namespace mnet::cni {

std::string version_request() { return cat(R"({"cniVersion":")", kCurrentVersion, R"("})"); }

Result<std::vector<std::string>> read_version_outcome(Result<std::string> outcome) {
  if (outcome) return parse_version_reply(*outcome);
  // The only message that we compare: those old plugins had no code for it.
  const bool is_old = outcome.error().origin() != nullptr &&
                      outcome.error().text() == "unknown CNI_COMMAND: VERSION";
  if (is_old) return std::vector<std::string>{std::string(kOldestVersion)};
  return std::move(outcome).error();
}

}  // namespace mnet::cni
