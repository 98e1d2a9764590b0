#include "chain/chain.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/cancel.h"
#include "aio/failpoint.h"
#include "aio/task.h"
#include "base/durability.h"
#include "base/error.h"
#include "base/error_list.h"
#include "base/log.h"
#include "base/reading.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/early_start.h"
#include "chain/plugins.h"
#include "chain/results.h"
#include "cni/cache.h"
#include "cni/conf.h"
#include "cni/error.h"
#include "cni/names.h"
#include "cni/result.h"
#include "cni/types.h"
#include "cni/version.h"
#include "json/json.h"
#include "model/attachment.h"
#include "model/delegate.h"
#include "model/netconf.h"

namespace mnet::chain {
namespace {

// Errors of the plugins of a list say which plugin; a single conf's stand for themselves (01, 5.7).
Error from_plugin(Error error, const model::Attachment& attachment, const cni::PluginConf& conf,
                  std::string_view what) {
  if (!attachment.delegate.is_list) return error;
  return std::move(error).wrap(cat("plugin ", description(conf), " failed (", what, ")"));
}

Result<void> validate(const model::Attachment& attachment) {
  MNET_TRY_VOID(cni::validate_container_id(attachment.container_id));
  MNET_TRY_VOID(cni::validate_network_name(attachment.delegate.list->name));
  return cni::validate_ifname(attachment.ifname);
}

// A configuration that cannot be run has only the name under which it was found.
const std::string& network_name(const model::Attachment& attachment) {
  const model::Delegate& delegate = attachment.delegate;
  return delegate.list ? delegate.list->name : delegate.cni_name;
}

// The plugin has nothing to clean up (CNI specification, "Error").
bool is_unknown_container(const Error& error) {
  const ErrorObject* object = error.origin();
  return object != nullptr &&
         object->code == static_cast<std::uint64_t>(cni::Code::kUnknownContainer);
}

cni::CacheKey key_of(const model::Attachment& attachment) {
  return {network_name(attachment), attachment.container_id, attachment.ifname};
}

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

std::string description(const cni::PluginConf& conf) {
  std::string text = cat("type=", go_quoted(conf.type));
  if (!conf.name.empty()) text += cat(" name=", go_quoted(conf.name));
  return text;
}

Chain::Chain(Plugins& plugins, Results& results, Setting setting, Log log)
    : plugins_(plugins), results_(results), setting_(std::move(setting)), log_(std::move(log)) {}

PluginRun Chain::run_of(std::string binary, std::string command) const {
  PluginRun run;
  run.binary = std::move(binary);
  run.command = std::move(command);
  run.dirs = setting_.dirs;
  run.request_id = setting_.request_id;
  run.ticket = setting_.ticket;
  run.pod_namespace = setting_.pod_namespace;
  return run;
}

PluginRun Chain::run_of(const model::Attachment& attachment, std::string binary,
                        std::string command) const {
  PluginRun run = run_of(std::move(binary), std::move(command));
  run.container_id = attachment.container_id;
  run.netns = attachment.netns;
  run.ifname = attachment.ifname;
  run.args = attachment.args;
  return run;
}

PluginRun Chain::add_run_of(const model::Attachment& attachment, std::string binary) const {
  PluginRun run = run_of(attachment, std::move(binary), "ADD");
  run.caller = setting_.caller;
  return run;
}

cni::CacheEntry cache_entry(const model::Attachment& attachment, json::Value result) {
  cni::CacheEntry entry;
  entry.container_id = attachment.container_id;
  entry.network = network_name(attachment);
  entry.ifname = attachment.ifname;
  entry.netns = attachment.netns;
  entry.config = attachment.delegate.bytes;
  entry.cni_args = attachment.args;
  entry.capability_args = attachment.capability_args;
  entry.result = std::move(result);
  return entry;
}

Error not_remembered(Error error, const model::Attachment& attachment) {
  return std::move(error).wrap(
      cat("failed to set network ", go_quoted(network_name(attachment)), " cached result"));
}

Result<void> Chain::check_types(const cni::PluginConf& conf) const {
  if (!setting_.own_type) return {};
  return cni::check_types(conf.object, *setting_.own_type);
}

Result<void> Chain::check_types_for_removal(const cni::PluginConf& conf) const {
  if (!setting_.own_type) return {};
  return cni::check_types_for_removal(conf.object, *setting_.own_type);
}

bool Chain::may_start_early(const cni::PluginConf& conf) const {
  return setting_.starts_early && waits_for_config(conf.type) && check_types(conf);
}

aio::Task<void> Chain::start_early(std::string type, PluginRun run, EarlyRun* early) {
  auto started = co_await plugins_.start_early(std::move(type), std::move(run));
  if (started) *early = *std::move(started);
  co_return Result<void>();
}

aio::Task<void> Chain::run_beside(aio::Task<void> running, aio::Task<void> starting) {
  std::vector<aio::Task<void>> both;
  both.push_back(std::move(running));  // first: it has what it needs before others take time
  both.push_back(std::move(starting));
  auto ended = co_await aio::all(std::move(both));
  co_return std::move(ended.front());
}

aio::Task<cni::NetResult> Chain::add(model::AttachmentPtr attachment,
                                     std::optional<Durability> kept, bool* has_run) {
  if (!attachment->delegate.list) co_return attachment->delegate.list.error();
  const cni::ConfList& list = *attachment->delegate.list;

  Progress progress;
  progress.has_run = has_run;
  for (std::size_t i = 0; i < list.plugins.size(); ++i) {
    auto added = co_await add_plugin(attachment, i, &progress);
    if (!added) {
      co_return from_plugin(std::move(added).error(), *attachment, list.plugins[i], "add");
    }
    for (const std::string& dropped : progress.result.dropped) {
      log_.warning(cat("result of ", excerpt(list.plugins[i].type), ": ", dropped));
    }
  }
  if (!kept) co_return std::move(progress.result);
  MNET_FAILPOINT("result-cache-before-write");
  auto written = co_await results_.write_result(
      setting_.cni_dir, cache_entry(*attachment, cni::to_json(progress.result)), *kept);
  if (!written) co_return not_remembered(std::move(written).error(), *attachment);
  MNET_FAILPOINT("result-cache-after-write");
  co_return std::move(progress.result);
}

aio::Task<void> Chain::expect_plugin(model::AttachmentPtr attachment) {
  if (!attachment->delegate.list) co_return attachment->delegate.list.error();
  const cni::PluginConf& first = attachment->delegate.list->plugins.front();
  MNET_CO_TRY_VOID(check_types(first));
  auto binary = co_await plugins_.find(first.type, setting_.dirs);
  if (!binary) co_return from_plugin(std::move(binary).error(), *attachment, first, "add");
  co_return Result<void>();
}

// While one plugin works, the next gets ready.
aio::Task<void> Chain::add_plugin(model::AttachmentPtr attachment, std::size_t index,
                                  Progress* progress) {
  const auto& plugins = attachment->delegate.list->plugins;
  auto adding = run_add(attachment, index, std::exchange(progress->next, {}), progress);
  const bool is_last = index + 1 == plugins.size();
  if (is_last || !may_start_early(plugins[index + 1]) || !validate(*attachment) || caller_gone()) {
    co_return co_await std::move(adding);
  }
  auto starting = start_early(plugins[index + 1].type, add_run_of(*attachment), &progress->next);
  co_return co_await run_beside(std::move(adding), std::move(starting));
}

// `progress->result` is the previous plugin's at first, and this one's at the end.
aio::Task<void> Chain::run_add(model::AttachmentPtr attachment, std::size_t index, EarlyRun early,
                               Progress* progress) {
  const cni::ConfList& list = *attachment->delegate.list;
  const cni::PluginConf& conf = list.plugins[index];
  MNET_CO_TRY_VOID(check_types(conf));
  PluginRun run;
  if (!early) {
    MNET_CO_TRY(auto&& binary, co_await plugins_.find(conf.type, setting_.dirs));
    run = add_run_of(*attachment, std::move(binary));
  }
  MNET_CO_TRY_VOID(validate(*attachment));
  const json::Value prev_result =
      index == 0 ? json::Value() : json::Value(cni::to_json(progress->result));
  MNET_CO_TRY(auto&& config, cni::plugin_stdin(conf, list.name, list.version, prev_result,
                                               attachment->capability_args));
  if (caller_gone()) co_return aio::cancelled_error();

  run.config = std::move(config);
  run.started = progress->has_run;
  auto running = early ? early(std::move(run.config)) : plugins_.run(std::move(run));
  MNET_CO_TRY(auto&& output, co_await std::move(running));
  MNET_CO_TRY(auto&& read, cni::read_plugin_output(output, list.version));
  progress->result = std::move(read);
  co_return Result<void>();
}

// What CHECK and DEL hand to the plugins, in the list's own version; null if there is no entry.
aio::Task<cni::CachedResult> Chain::cached_result(model::AttachmentPtr attachment) {
  const cni::ConfList& list = *attachment->delegate.list;
  MNET_CO_TRY(auto&& found,
              co_await results_.find_result(
                  setting_.cni_dir, {list.name, attachment->container_id, attachment->ifname}));
  if (!found) co_return cni::CachedResult();
  MNET_CO_TRY(auto&& result, cni::read_cached_result(found->result, list.version));
  co_return cni::CachedResult{.result = cni::to_json(result), .deleted_from = found->deleted_from};
}

aio::Task<void> Chain::run_plugin(model::AttachmentPtr attachment, std::size_t index,
                                  std::string command, json::Value prev_result, EarlyRun early) {
  const cni::ConfList& list = *attachment->delegate.list;
  const cni::PluginConf& conf = list.plugins[index];
  PluginRun run;
  if (!early) {
    MNET_CO_TRY(auto&& binary, co_await plugins_.find(conf.type, setting_.dirs));
    run = run_of(*attachment, std::move(binary), std::move(command));
  }
  MNET_CO_TRY(auto&& config, cni::plugin_stdin(conf, list.name, list.version, prev_result,
                                               attachment->capability_args));
  run.config = std::move(config);
  auto running = early ? early(std::move(run.config)) : plugins_.run(std::move(run));
  MNET_CO_TRY([[maybe_unused]] const auto& output, co_await std::move(running));
  co_return Result<void>();
}

// As in an ADD, in the other direction.
aio::Task<void> Chain::del_plugin(model::AttachmentPtr attachment, std::size_t index,
                                  json::Value prev_result, EarlyRun* next) {
  const auto& plugins = attachment->delegate.list->plugins;
  auto deleting =
      run_plugin(attachment, index, "DEL", std::move(prev_result), std::exchange(*next, {}));
  if (index == 0 || !may_start_early(plugins[index - 1])) co_return co_await std::move(deleting);
  auto starting = start_early(plugins[index - 1].type, run_of(*attachment, {}, "DEL"), next);
  co_return co_await run_beside(std::move(deleting), std::move(starting));
}

aio::Task<void> Chain::check(model::AttachmentPtr attachment) {
  if (!attachment->delegate.list) co_return attachment->delegate.list.error();
  const cni::ConfList& list = *attachment->delegate.list;
  MNET_CO_TRY(auto&& version, cni::parse_version(list.version));
  if (version < cni::kCheckSince) {
    co_return Error(Errc::kInvalid, cat("configuration version ", go_quoted(list.version),
                                        " does not support the CHECK command"));
  }
  if (list.disable_check) co_return Result<void>();

  auto cached = co_await cached_result(attachment);
  if (!cached) {
    co_return std::move(cached).error().wrap(
        cat("failed to get network ", go_quoted(list.name), " cached result"));
  }
  for (std::size_t i = 0; i < list.plugins.size(); ++i) {
    if (caller_gone()) co_return aio::cancelled_error();
    // As for a removal: an earlier version may have attached what is refused today.
    MNET_CO_TRY_VOID(check_types_for_removal(list.plugins[i]));
    MNET_CO_TRY_VOID(co_await run_plugin(attachment, i, "CHECK", cached->result));
  }
  co_return Result<void>();
}

// An old version gets no previous result, but how far an earlier DEL came counts for it, too.
aio::Task<Chain::Deleted> Chain::del(model::AttachmentPtr attachment) {
  if (!attachment->delegate.list) co_return attachment->delegate.list.error();
  const cni::ConfList& list = *attachment->delegate.list;
  MNET_CO_TRY(auto&& version, cni::parse_version(list.version));

  Deleted done;
  cni::CachedResult known;
  auto cached = co_await cached_result(attachment);
  if (cached) {
    known = *std::move(cached);
  } else if (version < cni::kCheckSince) {
    // It gets no result anyway.
  } else if (is_damage(cached.error())) {
    // A damaged entry is useless; DEL goes on without it (01, 5.4).
    auto removed = co_await results_.remove_result(setting_.cni_dir, key_of(*attachment));
    if (!removed) log_.error("cannot remove a damaged result-cache entry", removed.error());
  } else if (is_shortage(cached.error())) {
    co_return std::move(cached).error();
  } else {
    log_.error("DEL continues without the cached result", cached.error());
    done.unread = std::move(cached).error();
  }
  if (version < cni::kCheckSince) known.result = json::Value();

  MNET_CO_TRY_VOID(co_await del_plugins(attachment, std::move(known)));
  if (done.unread) co_return done;
  auto removed = co_await results_.remove_result(setting_.cni_dir, key_of(*attachment));
  if (!removed) log_.error("cannot remove a result-cache entry", removed.error());
  co_return done;
}

// From last to first, those that are left. A later DEL resumes at the plugin that fails: what the
// others gave up may be in another container's hands by then.
aio::Task<void> Chain::del_plugins(model::AttachmentPtr attachment, cni::CachedResult known) {
  const cni::ConfList& list = *attachment->delegate.list;
  const std::size_t end =
      std::min(known.deleted_from.value_or(list.plugins.size()), list.plugins.size());
  EarlyRun next;
  ErrorList failed;
  for (std::size_t i = end; i-- > 0;) {
    if (auto checked = check_types_for_removal(list.plugins[i]); !checked) {
      log_.error(
          cat("DEL of network ", go_quoted(list.name), ", interface ", excerpt(attachment->ifname),
              " of container ", attachment->container_id, " skips a plugin"),
          checked.error());
      continue;
    }
    auto deleted = co_await del_plugin(attachment, i, known.result, &next);
    if (!deleted && is_unknown_container(deleted.error())) {
      log_.verbose(cat("DEL: plugin ", description(list.plugins[i]), " does not know container ",
                       attachment->container_id));
      continue;
    }
    if (deleted) continue;
    if (setting_.goes_on) {
      failed.add(from_plugin(std::move(deleted).error(), *attachment, list.plugins[i], "delete"));
      continue;
    }
    if (i + 1 < end) {
      auto noted = co_await results_.note_deleted(setting_.cni_dir, key_of(*attachment), i + 1);
      if (!noted) log_.error("cannot record how far a DEL got", noted.error());
    }
    co_return from_plugin(std::move(deleted).error(), *attachment, list.plugins[i], "delete");
  }
  co_return failed.join(" / ");
}

Result<std::string> Chain::detached_config(const model::Delegate& delegate, std::size_t index,
                                           json::Object values) {
  values.set("name", delegate.list->name);
  values.set("cniVersion", delegate.list->version);
  MNET_TRY(auto&& conf, cni::inject(delegate.list->plugins[index], values));
  return std::move(conf.bytes);
}

aio::Task<void> Chain::run_detached(std::string type, std::string command, std::string config) {
  MNET_CO_TRY(auto&& binary, co_await plugins_.find(std::move(type), setting_.dirs));
  PluginRun run = run_of(std::move(binary), std::move(command));
  run.config = std::move(config);
  MNET_CO_TRY([[maybe_unused]] const auto& output, co_await plugins_.run(std::move(run)));
  co_return Result<void>();
}

aio::Task<void> Chain::status(model::DelegatePtr delegate) {
  if (!delegate->list) co_return delegate->list.error();
  if (!cni::at_least(delegate->list->version, cni::kGcStatusSince)) co_return Result<void>();
  for (std::size_t i = 0; i < delegate->list->plugins.size(); ++i) {
    if (caller_gone()) co_return aio::cancelled_error();
    const std::string& type = delegate->list->plugins[i].type;
    MNET_CO_TRY_VOID(check_types(delegate->list->plugins[i]));
    auto config = detached_config(*delegate, i, {});
    if (!config) {
      co_return std::move(config).error().wrap(
          cat("failed to generate configuration to get plugin STATUS ", excerpt(type)));
    }
    MNET_CO_TRY_VOID(co_await run_detached(type, "STATUS", *std::move(config)));
  }
  co_return Result<void>();
}

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
      log_.error(cat("GC of network ", go_quoted(list.name), " skips a plugin"), checked.error());
      continue;
    }
    auto config = detached_config(*delegate, i, values);
    if (!config) {
      errors.add(std::move(config).error().wrap(
          cat("failed to generate configuration to GC plugin ", excerpt(type))));
      continue;
    }
    auto collected = co_await run_detached(type, "GC", *std::move(config));
    if (!collected) {
      errors.add(std::move(collected).error().wrap(cat("failed to GC plugin ", excerpt(type))));
    }
  }
  co_return errors.join("\n");
}

}  // namespace mnet::chain
