// Makes a node what its lists say, again and again: installs what is missing or different, restores
// what others changed, takes away what is no longer desired (04, 3.3 to 3.6). Knows nothing of who
// says when.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "aio/task.h"
#include "base/result.h"
#include "cni_node/config_order.h"
#include "cni_node/desired.h"
#include "cni_node/files.h"
#include "cni_node/item_status.h"
#include "cni_node/ledger.h"
#include "cni_node/manifests.h"
#include "nodetools/output.h"

namespace mnet::cni_node {

class Reconciler {
 public:
  using Clock = std::chrono::steady_clock;

  struct Parts {
    Files& files;
    Manifests& manifests;
    LedgerFile& ledger;
    nodetools::Output& output;
  };
  // `is_stopping` is asked between items. All must outlive the tasks.
  Reconciler(Parts parts, std::function<bool()> is_stopping);

  // Plugins, then configurations. Never waits for anybody, so that an outage of the API holds up
  // no file.
  void put_files(const Desired& desired, bool is_resync);
  // Manifests; then everything that is not desired any more goes. One at a time; files may be put
  // meanwhile, and `desired` may change: what is removed is what is not desired at that moment.
  aio::Task<void> do_the_rest(const Desired* desired, bool is_resync);
  // Everything in the ledger goes. Whether nothing is left.
  aio::Task<bool> clean_up();

  // When something that failed shall be tried again.
  std::optional<Clock::time_point> next_try() const { return board_.next_try(); }
  void api_is_back() { board_.try_now(ItemKind::kManifest); }
  // Every file whose change may mean work.
  std::set<std::string> files_to_follow(const Desired& desired) const;
  std::string status() const { return board_.text(); }

 private:
  void put_plugin(const std::string& name, bool is_resync);
  void put_config(const std::string& name);
  void note_render_trouble(ItemStatus& item, const std::string& name, const Error& why);
  // Whether it may be written; false: others change it too often.
  bool may_write(ItemStatus& item, const std::string& name, std::string_view made_of);
  ConfigOrder order_of(const Names& configs) const;

  aio::Task<void> put_manifest(std::string name, bool is_resync);
  aio::Task<void> apply_manifest(std::string name, LoadedManifest manifest);
  aio::Task<void> remove_stale(const Desired* desired);
  aio::Task<void> remove_manifest(std::string file);
  void remove_file(ItemKind kind, const std::string& name);
  void remove_files(ItemKind kind, const Names& desired);
  aio::Task<void> remove_manifests(Names desired);

  void fail(ItemKind kind, const std::string& name, std::string input, const Error& why);
  void remember(Names& list, const std::string& name);
  void save();

  Files& files_;
  Manifests& manifests_;
  LedgerFile& ledger_;
  nodetools::Output& output_;
  const std::function<bool()> is_stopping_;
  ItemBoard board_;
};

}  // namespace mnet::cni_node
