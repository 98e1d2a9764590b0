// What a reconciler works on: the files and manifests of a node, the ledger of what was installed,
// and how it stands with each item.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "base/error.h"
#include "cni_node/files.h"
#include "cni_node/item_status.h"
#include "cni_node/manifests.h"
#include "ledger/ledger_file.h"
#include "nodetools/output.h"

namespace mnet::cni_node {

struct NodeItems {
  Files& files;
  Manifests& manifests;
  ledger::LedgerFile& ledger;
  nodetools::Output& output;
  std::function<bool()> is_stopping;  // asked between items
  ItemBoard board = {};

  // Notes the failure of an item that was made of `input`, and says so if it is news.
  void fail(ItemKind kind, const std::string& name, std::string input, const Error& why) {
    const bool is_news =
        board.at(kind, name).failed(why.text(), std::move(input), std::chrono::steady_clock::now());
    if (is_news) output.complain(name, why.text());
  }
};

}  // namespace mnet::cni_node
