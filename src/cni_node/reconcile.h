// Makes a node what its lists say, again and again: installs what is missing or different, restores
// what other programs changed, removes what is no longer desired (04, 3.3 to 3.6). Its caller says
// when.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "aio/task.h"
#include "base/error.h"
#include "cni_node/config_order.h"
#include "cni_node/desired.h"
#include "cni_node/item_status.h"
#include "cni_node/manifests.h"
#include "cni_node/node_items.h"
#include "cni_node/stale_remover.h"

namespace mnet::cni_node {

class Reconciler {
 public:
  using Clock = std::chrono::steady_clock;

  // All that it refers to must outlive the tasks.
  explicit Reconciler(NodeItems items) : items_(std::move(items)) {}
  Reconciler(const Reconciler&) = delete;
  Reconciler& operator=(const Reconciler&) = delete;

  // Plugins, then configurations. Never waits, so that an outage of the API delays no file.
  void put_files(const Desired& desired, bool is_resync);
  // Manifests; then everything that is not desired any more goes. One at a time; files may be put
  // meanwhile, and `desired` may change: what is removed is what is not desired at that moment.
  aio::Task<void> do_the_rest(const Desired* desired, bool is_resync);
  // Everything in the ledger goes, objects of the API only if asked. Whether nothing is left.
  aio::Task<bool> clean_up(bool takes_objects) { return remover_.clean_up(takes_objects); }

  // When something that failed shall be tried again.
  std::optional<Clock::time_point> next_try() const { return items_.board.next_try(); }
  void api_is_back() { items_.board.try_now(ItemKind::kManifest); }
  // Every file whose change may mean work.
  std::set<std::string> files_to_follow(const Desired& desired) const;
  std::string status() const { return items_.board.text(); }
  // An item that is not as desired; empty if there is none.
  std::string trouble() const { return items_.board.trouble(); }
  std::string metrics() const { return items_.board.metrics(); }

 private:
  void put_plugin(const std::string& name, const std::string& pin, bool is_resync);
  void put_config(const std::string& name);
  void note_render_trouble(ItemStatus& item, const std::string& name, const Error& why);
  // Whether it may be written; false: others change it too often.
  bool may_write(ItemStatus& item, const std::string& name, std::string_view made_of);
  ConfigOrder order_of(const Names& configs) const;

  aio::Task<void> put_manifest(std::string name, bool is_resync);
  aio::Task<void> apply_manifest(std::string name, LoadedManifest manifest);
  // Before it is installed: what is not in the ledger would never go again. False: it cannot be.
  bool remember(ItemKind kind, const std::string& name);

  NodeItems items_;
  StaleRemover remover_{items_};
};

}  // namespace mnet::cni_node
