// Removes from a node what the ledger lists and its lists no longer name (04, 3.5, 3.6).
#pragma once

#include <string>

#include "aio/task.h"
#include "cni_node/desired.h"
#include "cni_node/names.h"
#include "cni_node/node_items.h"

namespace mnet::cni_node {

class StaleRemover {
 public:
  // The items must outlive the tasks.
  explicit StaleRemover(NodeItems& items) : items_(items) {}

  // `desired` may change meanwhile: it is looked at for each kind of items.
  aio::Task<void> remove(const Desired* desired);
  // Everything in the ledger goes, objects of the API only if asked. Whether nothing is left.
  aio::Task<bool> clean_up(bool takes_objects);

 private:
  aio::Task<void> remove_manifest(std::string file);
  aio::Task<void> remove_manifests(Names desired);
  void remove_file(ItemKind kind, const std::string& name);
  void remove_files(ItemKind kind, const Names& desired);

  NodeItems& items_;
};

}  // namespace mnet::cni_node
