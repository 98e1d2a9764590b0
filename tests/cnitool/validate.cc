#include "validate.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/plugins.h"
#include "cni/conf.h"
#include "cni/version.h"
#include "model/attachment.h"

namespace mnet::cnitool {
namespace {

std::vector<std::string> capability_names(const cni::ConfList& list) {
  std::set<std::string> names;
  for (const cni::PluginConf& conf : list.plugins) {
    for (const auto& [name, wanted] : conf.capabilities) {
      if (wanted) names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

// Very old plugins want all variables to be there (01, 7.6).
chain::PluginRun version_run(std::string binary) {
  chain::PluginRun run;
  run.binary = std::move(binary);
  run.command = "VERSION";
  run.netns = run.ifname = "dummy";
  run.dirs = {"dummy"};
  run.config = cat(R"({"cniVersion":")", cni::kCurrentVersion, R"("})");
  return run;
}

// The versions that a plugin supports, from its stdout or its failure. One so old that it does not
// know the command supports only 0.1.0 (01, 7.6).
Result<std::vector<std::string>> versions_of(Result<std::string> outcome) {
  if (outcome) return cni::parse_version_reply(*outcome);
  // The only message that is compared: those old plugins had no code for it.
  const bool is_old = outcome.error().origin() != nullptr &&
                      outcome.error().text() == "unknown CNI_COMMAND: VERSION";
  if (is_old) return std::vector<std::string>{std::string(cni::kOldestVersion)};
  return std::move(outcome).error();
}

}  // namespace

aio::Task<std::vector<std::string>> Validation::run(model::DelegatePtr delegate) {
  if (!delegate->list) co_return delegate->list.error();
  const cni::ConfList& list = *delegate->list;
  const std::string version =
      list.version.empty() ? std::string(cni::kOldestVersion) : list.version;
  std::vector<std::string> complaints;
  for (const cni::PluginConf& conf : list.plugins) {
    auto answered = co_await ask(conf.type, version);
    if (answered) continue;
    if (!delegate->is_list) co_return std::move(answered).error();
    complaints.push_back(answered.error().text());
  }
  if (!complaints.empty()) co_return Error(Errc::kInvalid, bracketed(complaints));
  co_return capability_names(list);
}

aio::Task<void> Validation::ask(std::string type, std::string version) {
  MNET_CO_TRY(auto&& binary, co_await plugins_.find(type, dirs_));
  auto output = co_await plugins_.run(version_run(std::move(binary)));
  MNET_CO_TRY(auto&& versions, versions_of(std::move(output)));
  // By exact spelling: 1.1 is not 1.1.0 here.
  if (std::ranges::find(versions, version) != versions.end()) co_return Result<void>();
  co_return Error(Errc::kInvalid, cat("plugin ", excerpt(type), " does not support config version ",
                                      go_quoted(version)));
}

}  // namespace mnet::cnitool
