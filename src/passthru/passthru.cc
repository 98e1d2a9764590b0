#include "passthru/passthru.h"

#include <string>

#include "base/result.h"
#include "base/try.h"
#include "cni/version.h"
#include "json/fields.h"
#include "json/json.h"
#include "skel/skel.h"

namespace mnet::passthru {
namespace {

// Only the version: not even `dns`, which results below 1.0.0 otherwise always have.
Result<void> add(const skel::CmdArgs& args, const skel::Front& front) {
  MNET_TRY(const auto& config, json::parse_object(args.stdin_data));
  std::string version;
  json::Fields fields(config);
  fields.read("cniVersion", version);
  MNET_TRY_VOID(fields.done());
  if (version.empty()) version = cni::kOldestVersion;
  return front.write_stdout(json::dump(json::Object{{"cniVersion", version}}, json::kPretty));
}

}  // namespace

int run(const skel::Front& front) {
  const skel::Plugin plugin{.add = [&](const skel::CmdArgs& args) { return add(args, front); },
                            .versions = cni::all_versions(),
                            .about = "Passthrough CNI Plugin v1.0"};
  return skel::run(plugin, front);
}

}  // namespace mnet::passthru
