#include "cni_node/stale_remover.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni_node/desired.h"
#include "cni_node/manifests.h"
#include "cni_node/names.h"
#include "cni_node/node_items.h"
#include "cni_node/work.h"
#include "ledger/ledger.h"

namespace mnet::cni_node {
namespace {

constexpr std::string_view kRemoving = "removing";  // the input of an item that fails to go

// What is in the ledger and not desired, the last first.
Names stale(const Names& known, const Names& desired) {
  Names out = difference({.desired = desired, .current = known}).removed;
  std::ranges::reverse(out);
  return out;
}

}  // namespace

// A kind whose items are not all in place keeps what it has: better two than none.
aio::Task<void> StaleRemover::remove(const Desired* desired) {
  const auto may_go = [this](ItemKind kind, const std::optional<Names>& names) {
    return names && items_.board.all_well(kind, *names);
  };
  if (may_go(ItemKind::kConfig, desired->configs)) {
    remove_files(ItemKind::kConfig, *desired->configs);
  }
  if (may_go(ItemKind::kPlugin, desired->plugins)) {
    remove_files(ItemKind::kPlugin, *desired->plugins);
  }
  if (may_go(ItemKind::kManifest, desired->manifests)) {
    MNET_CO_TRY_VOID(co_await remove_manifests(*desired->manifests));
  }

  const auto forget = [this](ItemKind kind, const std::optional<Names>& names, const Names& known) {
    Names kept = names.value_or(Names());
    if (names) kept.insert(kept.end(), known.begin(), known.end());
    items_.board.keep_only(kind, kept);
  };
  forget(ItemKind::kPlugin, desired->plugins, items_.ledger.entries().plugins);
  forget(ItemKind::kConfig, desired->configs, items_.ledger.entries().configs);
  forget(ItemKind::kManifest, desired->manifests, items_.ledger.entries().manifest_files());
  co_return Result<void>();
}

void StaleRemover::remove_files(ItemKind kind, const Names& desired) {
  const ledger::Ledger& known = items_.ledger.entries();
  const Names all = stale(kind == ItemKind::kPlugin ? known.plugins : known.configs, desired);
  for (const std::string& name : all) {
    if (items_.is_stopping()) return;
    if (items_.board.at(kind, name).must_wait(kRemoving, std::chrono::steady_clock::now()))
      continue;
    remove_file(kind, name);
  }
}

void StaleRemover::remove_file(ItemKind kind, const std::string& name) {
  const bool is_plugin = kind == ItemKind::kPlugin;
  auto removed = is_plugin ? items_.files.remove_plugin(name) : items_.files.remove_config(name);
  Result<void> done = removed ? Result<void>() : std::move(removed).error();
  if (done) {
    done = items_.ledger.update([&](ledger::Ledger& ledger) {
      std::erase(is_plugin ? ledger.plugins : ledger.configs, name);
    });
  }
  if (!done) items_.fail(kind, name, std::string(kRemoving), done.error());
}

aio::Task<void> StaleRemover::remove_manifests(Names desired) {
  const Names all = stale(items_.ledger.entries().manifest_files(), desired);
  for (const std::string& file : all) {
    if (items_.is_stopping()) break;
    if (items_.board.at(ItemKind::kManifest, file)
            .must_wait(kRemoving, std::chrono::steady_clock::now()))
      continue;
    MNET_CO_TRY_VOID(co_await remove_manifest(file));
  }
  co_return Result<void>();
}

// The ledger lists the objects: neither the file nor its variables are needed.
aio::Task<void> StaleRemover::remove_manifest(std::string file) {
  const ledger::ManifestEntry* entry = items_.ledger.entries().find_manifest(file);
  if (entry == nullptr) co_return Result<void>();
  items_.output.print(cat(kDeleting, " (", file, ")"));
  auto api = items_.manifests.writer();
  Result<void> removed;
  if (api) {
    removed = co_await (*api)->remove(file, entry->objects);
  } else {
    removed = std::move(api).error();
  }
  if (!removed && removed.error().code() == Errc::kCancelled) co_return removed;
  if (removed) {
    removed = items_.ledger.update([&](ledger::Ledger& ledger) {
      std::erase_if(ledger.manifests, [&](const auto& manifest) { return manifest.file == file; });
    });
  }
  if (!removed) {
    items_.fail(ItemKind::kManifest, file, std::string(kRemoving), removed.error());
  }
  co_return Result<void>();
}

// Files first: they need no API, which may be silent.
aio::Task<bool> StaleRemover::clean_up(bool takes_objects) {
  const ledger::Ledger known = items_.ledger.entries();
  for (const std::string& name : stale(known.configs, {})) remove_file(ItemKind::kConfig, name);
  for (const std::string& name : stale(known.plugins, {})) remove_file(ItemKind::kPlugin, name);
  Result<void> gone;
  for (const std::string& file : stale(known.manifest_files(), {})) {
    if (!takes_objects) break;
    gone = co_await remove_manifest(file);
    if (!gone) break;  // no time is left
  }
  const ledger::Ledger& left = items_.ledger.entries();
  co_return left.plugins.empty() && left.configs.empty() && left.manifests.empty();
}

}  // namespace mnet::cni_node
