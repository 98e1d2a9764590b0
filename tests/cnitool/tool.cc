#include "tool.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "adapters/exec_plugins.h"
#include "aio/task.h"
#include "attach/ports.h"
#include "base/durability.h"
#include "base/error_list.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/chain.h"
#include "cni/cache.h"
#include "cni/result.h"
#include "inputs.h"
#include "json/json.h"
#include "model/attachment.h"
#include "validate.h"

namespace mnet::cnitool {
namespace {

constexpr const char* kCacheDir = "/var/lib/cni";

adapters::ExecSettings inheriting(std::vector<std::string> environment) {
  adapters::ExecSettings settings;
  settings.environment = std::move(environment);
  return settings;
}

chain::Chain::Setting setting_of(const Inputs& inputs) {
  chain::Chain::Setting setting;
  setting.dirs = inputs.dirs;
  setting.cni_dir = kCacheDir;
  return setting;
}

}  // namespace

Tool::Tool(Inputs inputs, model::DelegatePtr network, std::vector<std::string> environment)
    : inputs_(std::move(inputs)),
      network_(std::move(network)),
      plugins_(pool_, slots_, inheriting(std::move(environment)), Log()),
      chain_(plugins_, records_, setting_of(inputs_), Log()) {}

aio::Task<std::string> Tool::run() {
  if (inputs_.command == "add") return add();
  if (inputs_.command == "validate") return validate();
  return silent();
}

aio::Task<std::string> Tool::add() {
  MNET_CO_TRY(auto&& result, co_await chain_.add(attachment(), Durability::kDurable));
  co_return json::dump(cni::to_json(result), json::kPretty);
}

aio::Task<std::string> Tool::validate() {
  Validation validation(plugins_, inputs_.dirs);
  MNET_CO_TRY(auto&& capabilities, co_await validation.run(network_));
  std::string lines;
  for (const std::string& name : capabilities) lines += cat(name, "\n");
  co_return lines;
}

aio::Task<std::string> Tool::silent() {
  MNET_CO_TRY_VOID(co_await operation());
  co_return std::string();
}

aio::Task<void> Tool::operation() {
  if (inputs_.command == "check") return chain_.check(attachment());
  if (inputs_.command == "del") return del();
  if (inputs_.command == "status") return chain_.status(network_);
  return gc();
}

aio::Task<void> Tool::del() {
  MNET_CO_TRY([[maybe_unused]] const auto& deleted, co_await chain_.del(attachment()));
  co_return Result<void>();
}

// 01, 5.5 with nothing that is valid: every attachment of the network goes, of any container.
aio::Task<void> Tool::gc() {
  if (network_->list->disable_gc) co_return Result<void>();
  auto listing = co_await records_.list_results(kCacheDir);
  if (!listing) co_return Result<void>();
  ErrorList errors;
  for (const cni::CachedContainer& container : listing->containers) {
    for (const cni::CachedContainer::Attachment& one : container.attachments) {
      if (one.network != network_->cni_name) continue;
      auto deleted = co_await chain_.del(attachment_of(container, one.ifname));
      if (deleted) continue;
      errors.add(std::move(deleted).error().wrap(
          cat("failed to delete stale attachment ", container.container_id, " ", one.ifname)));
    }
  }
  auto collected = co_await chain_.gc(network_, {});
  errors.add(std::move(collected));
  co_return errors.join("\n");
}

model::AttachmentPtr Tool::attachment() const {
  return std::make_shared<const model::Attachment>(
      model::Attachment{.delegate = *network_,
                        .container_id = inputs_.container_id,
                        .netns = inputs_.netns,
                        .ifname = inputs_.ifname,
                        .args = inputs_.args,
                        .capability_args = inputs_.capability_args});
}

model::AttachmentPtr Tool::attachment_of(const cni::CachedContainer& container,
                                         const std::string& ifname) const {
  return std::make_shared<const model::Attachment>(
      model::Attachment{.delegate = *network_,
                        .container_id = container.container_id,
                        .netns = container.netns,
                        .ifname = ifname,
                        .args = container.cni_args,
                        .capability_args = {}});
}

}  // namespace mnet::cnitool
