#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/error_list.h"
#include "base/result.h"
#include "base/text.h"
#include "chain/chain.h"
#include "cni/conf.h"
#include "cni/version.h"
#include "json/json.h"
#include "model/netconf.h"

namespace mnet::chain {
namespace {

// Never null: "nothing is valid" must be said, not left out (01, 5.5).
json::Array attachments_value(const std::vector<model::AttachmentId>& valid) {
  json::Array items;
  for (const model::AttachmentId& attachment : valid) {
    items.emplace_back(
        json::Object{{"containerID", attachment.container_id}, {"ifname", attachment.ifname}});
  }
  return items;
}

}  // namespace

aio::Task<void> Chain::gc(model::DelegatePtr delegate, std::vector<model::AttachmentId> valid) {
  if (!delegate->list) co_return delegate->list.error();
  const cni::ConfList& list = *delegate->list;
  if (list.disable_gc || !cni::at_least(list.version, cni::kGcStatusSince)) {
    co_return Result<void>();
  }
  const json::Value attachments = attachments_value(valid);
  // The second key is one that the specification's text once had by mistake; plugins read either.
  const json::Object values{{"cni.dev/valid-attachments", attachments},
                            {"cni.dev/attachments", attachments}};
  ErrorList errors;
  for (std::size_t i = 0; i < list.plugins.size(); ++i) {
    const std::string& type = list.plugins[i].type;
    if (auto checked = check_types_for_removal(list.plugins[i]); !checked) {
      log_.error(cat("GC of network ", go_quoted(list.name), " leaves out a plugin"),
                 checked.error());
      continue;
    }
    auto config = detached_config(*delegate, i, values);
    if (!config) {
      errors.add(std::move(config).error().wrap(
          cat("failed to generate configuration to GC plugin ", type)));
      continue;
    }
    auto collected = co_await run_detached(type, "GC", *std::move(config));
    if (!collected) {
      errors.add(std::move(collected).error().wrap(cat("failed to GC plugin ", type)));
    }
  }
  co_return errors.join("\n");
}

}  // namespace mnet::chain
