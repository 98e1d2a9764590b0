#include "chain/validate.h"

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
#include "cni/version_call.h"
#include "model/attachment.h"

namespace mnet::chain {
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
PluginRun version_run(std::string binary) {
  PluginRun run;
  run.binary = std::move(binary);
  run.command = "VERSION";
  run.netns = run.ifname = "dummy";
  run.dirs = {"dummy"};
  run.config = cni::version_request();
  return run;
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
  MNET_CO_TRY(auto&& versions, cni::read_version_outcome(std::move(output)));
  // By exact spelling: 1.1 is not 1.1.0 here.
  if (std::ranges::find(versions, version) != versions.end()) co_return Result<void>();
  co_return Error(Errc::kInvalid, cat("plugin ", excerpt(type), " does not support config version ",
                                      go_quoted(version)));
}

}  // namespace mnet::chain
