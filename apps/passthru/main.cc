// passthru: a CNI plugin that does nothing, for chains that need a first member (02, 3.9; 03, 9.3).

#include <string>

#include "base/result.h"
#include "cni/version.h"
#include "json/fields.h"
#include "json/json.h"
#include "skel/skel.h"

namespace {

using mnet::Result;

// Only the version: not even `dns`, which results below 1.0.0 otherwise always have.
Result<void> add(const mnet::skel::CmdArgs& args, const mnet::skel::Front& front) {
  const auto config = mnet::json::parse_object(args.stdin_data);
  if (!config) return config.error();
  std::string version;
  mnet::json::Fields fields(*config);
  fields.read("cniVersion", version);
  if (auto read = fields.done(); !read) return read;
  if (version.empty()) version = mnet::cni::kOldestVersion;
  return front.write_stdout(
      mnet::json::dump(mnet::json::Object{{"cniVersion", version}}, mnet::json::kPretty));
}

}  // namespace

int main() {
  const mnet::skel::Front front = mnet::skel::Front::of_process();
  const mnet::skel::Plugin plugin{
      .add = [&](const mnet::skel::CmdArgs& args) { return add(args, front); },
      .versions = mnet::cni::all_versions(),
      .about = "Passthrough CNI Plugin v1.0"};
  return mnet::skel::run(plugin, front);
}
