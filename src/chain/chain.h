// The operations of 01, 5 on one network of one container: its plugins in order, each with its
// configuration, the previous result and its arguments, and the result cache. Knows nothing of pods
// or other networks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aio/task.h"
#include "base/log.h"
#include "chain/caller.h"
#include "chain/plugins.h"
#include "chain/results.h"
#include "cni/cache.h"
#include "cni/result.h"
#include "model/attachment.h"
#include "model/netconf.h"

namespace mnet::chain {

class Chain {
 public:
  // What the runs of one request have in common.
  struct Setting {
    std::vector<std::string> dirs;  // where plugins are: binDir, then the request's CNI_PATH
    std::string cni_dir;
    std::string request_id;
    std::uint64_t ticket = 0;
    std::string pod_namespace = {};  // of the request's pod, if it names one
    std::shared_ptr<Caller> caller;
    bool starts_early = false;  // plugins that may start early (chain/early_start.h)
    bool goes_on = false;       // a plugin whose DEL fails stops no other one of its network
    // The `type` of the node's own configuration: no plugin that names it, or Multus under another
    // of its names, is run (cni/types.h). None: all are run, as a container runtime does.
    std::optional<std::string> own_type = {};
  };

  // The ports must outlive it, and it must outlive its tasks.
  Chain(Plugins& plugins, Results& results, Setting setting, Log log);

  // 5.2. The last plugin's result, as it answered. Nothing is undone after a failure. Ends with
  // kCancelled before the first plugin that would start after the caller has left. `kept` is for
  // the result's cache entry; none: the caller writes cache_entry() itself, with not_remembered()
  // as the error if it cannot. `has_run` becomes true once a plugin runs: without that there is
  // nothing to undo.
  aio::Task<cni::NetResult> add(model::AttachmentPtr attachment,
                                std::optional<Durability> kept = Durability::kInPlace,
                                bool* has_run = nullptr);
  // Whether add() could start at all: its first plugin is installed. The error is add()'s.
  aio::Task<void> expect_plugin(model::AttachmentPtr attachment);
  // 5.4. Runs even if the caller has left. Plugins that must not be run are skipped and logged:
  // what an earlier version attached must not keep a container from going away. One that answers
  // with code 3 has nothing to delete. Resumes where an earlier one failed.
  struct Deleted {
    // Why the cached result could not be read. The plugins ran without it, and the entry is kept
    // for another DEL that can read it.
    std::optional<Error> unread = {};
  };
  aio::Task<Deleted> del(model::AttachmentPtr attachment);
  // 5.3.
  aio::Task<void> check(model::AttachmentPtr attachment);
  // 5.6.
  aio::Task<void> status(model::DelegatePtr delegate);
  // Steps 1, 4 and 5 of 5.5: only the plugins' GC. Stale entries are the core's business, which
  // knows what they were made with (02, 7.3 step 2). Plugins that must not be run are left out.
  aio::Task<void> gc(model::DelegatePtr delegate, std::vector<model::AttachmentId> valid);

 private:
  // What plugins of one chain hand on to the next.
  struct Progress {
    cni::NetResult result;  // of the last one
    EarlyRun next;          // if it runs already
    bool* has_run = nullptr;
  };
  // Whether this plugin may be run at all.
  Result<void> check_types(const cni::PluginConf& conf) const;
  Result<void> check_types_for_removal(const cni::PluginConf& conf) const;
  bool may_start_early(const cni::PluginConf& conf) const;
  aio::Task<void> start_early(std::string type, PluginRun run, EarlyRun* early);
  // Runs one plugin while the next gets ready, if that may start early.
  aio::Task<void> run_beside(aio::Task<void> running, aio::Task<void> starting);
  aio::Task<void> add_plugin(model::AttachmentPtr attachment, std::size_t index,
                             Progress* progress);
  aio::Task<void> run_add(model::AttachmentPtr attachment, std::size_t index, EarlyRun early,
                          Progress* progress);
  aio::Task<void> run_plugin(model::AttachmentPtr attachment, std::size_t index,
                             std::string command, json::Value prev_result, EarlyRun early = {});
  aio::Task<void> del_plugin(model::AttachmentPtr attachment, std::size_t index,
                             json::Value prev_result, EarlyRun* next);
  static Result<std::string> detached_config(const model::Delegate& delegate, std::size_t index,
                                             json::Object values);
  aio::Task<void> run_detached(std::string type, std::string command, std::string config);
  aio::Task<cni::CachedResult> cached_result(model::AttachmentPtr attachment);
  aio::Task<void> del_plugins(model::AttachmentPtr attachment, cni::CachedResult known);
  PluginRun run_of(std::string binary, std::string command) const;
  PluginRun run_of(const model::Attachment& attachment, std::string binary,
                   std::string command) const;
  PluginRun add_run_of(const model::Attachment& attachment, std::string binary = {}) const;
  bool caller_gone() const { return setting_.caller != nullptr && setting_.caller->gone(); }

  Plugins& plugins_;
  Results& results_;
  Setting setting_;
  Log log_;
};

// `type="T"`, with ` name="N"` if the conf has one of its own (01, 5.1).
std::string description(const cni::PluginConf& conf);

// What is remembered of an attachment that is there; `result` as its plugin answered.
cni::CacheEntry cache_entry(const model::Attachment& attachment, json::Value result);
Error not_remembered(Error error, const model::Attachment& attachment);

}  // namespace mnet::chain
