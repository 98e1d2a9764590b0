#include <algorithm>
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
#include "cni_node/ledger.h"
#include "cni_node/manifests.h"
#include "cni_node/names.h"
#include "cni_node/reconcile.h"
#include "cni_node/work.h"

namespace mnet::cni_node {
namespace {

constexpr std::string_view kRemoving = "removing";  // the input of an item that fails to go

// What is in the ledger and not desired, the last first.
Names stale(const Names& known, const Names& desired) {
  Names out = difference({.desired = desired, .current = known}).removed;
  std::ranges::reverse(out);
  return out;
}

Names files_of(const std::vector<LedgerManifest>& manifests) {
  Names out;
  out.reserve(manifests.size());
  for (const LedgerManifest& manifest : manifests) out.push_back(manifest.file);
  return out;
}

}  // namespace

// A kind whose items are not all in place keeps what it has: better two than none.
aio::Task<void> Reconciler::remove_stale(const Desired* desired) {
  const auto may_go = [this](ItemKind kind, const std::optional<Names>& names) {
    return names && board_.all_well(kind, *names);
  };
  if (may_go(ItemKind::kConfig, desired->configs)) {
    remove_files(ItemKind::kConfig, *desired->configs);
  }
  if (may_go(ItemKind::kManifest, desired->manifests)) {
    MNET_CO_TRY_VOID(co_await remove_manifests(*desired->manifests));
  }
  if (may_go(ItemKind::kPlugin, desired->plugins)) {
    remove_files(ItemKind::kPlugin, *desired->plugins);
  }

  const auto forget = [this](ItemKind kind, const std::optional<Names>& names, const Names& known) {
    Names kept = names.value_or(Names());
    if (names) kept.insert(kept.end(), known.begin(), known.end());
    board_.keep_only(kind, kept);
  };
  forget(ItemKind::kPlugin, desired->plugins, ledger_.entries().plugins);
  forget(ItemKind::kConfig, desired->configs, ledger_.entries().configs);
  forget(ItemKind::kManifest, desired->manifests, files_of(ledger_.entries().manifests));
  co_return Result<void>();
}

void Reconciler::remove_files(ItemKind kind, const Names& desired) {
  const Ledger& known = ledger_.entries();
  const Names all = stale(kind == ItemKind::kPlugin ? known.plugins : known.configs, desired);
  for (const std::string& name : all) {
    if (is_stopping_()) return;
    if (board_.at(kind, name).must_wait(kRemoving, Clock::now())) continue;
    remove_file(kind, name);
  }
}

void Reconciler::remove_file(ItemKind kind, const std::string& name) {
  const bool is_plugin = kind == ItemKind::kPlugin;
  auto removed = is_plugin ? files_.remove_plugin(name) : files_.remove_config(name);
  if (!removed) return fail(kind, name, std::string(kRemoving), removed.error());
  std::erase(is_plugin ? ledger_.entries().plugins : ledger_.entries().configs, name);
  save();
}

aio::Task<void> Reconciler::remove_manifests(Names desired) {
  const Names all = stale(files_of(ledger_.entries().manifests), desired);
  for (const std::string& file : all) {
    if (is_stopping_()) break;
    if (board_.at(ItemKind::kManifest, file).must_wait(kRemoving, Clock::now())) continue;
    MNET_CO_TRY_VOID(co_await remove_manifest(file));
  }
  co_return Result<void>();
}

// By what was recorded: neither the file nor its variables are needed.
aio::Task<void> Reconciler::remove_manifest(std::string file) {
  const LedgerManifest* entry = ledger_.entries().find_manifest(file);
  if (entry == nullptr) co_return Result<void>();
  output_.print(cat(kDeleting, " (", file, ")"));
  auto api = manifests_.writer();
  Result<void> removed;
  if (api) {
    removed = co_await (*api)->remove(file, entry->objects);
  } else {
    removed = std::move(api).error();
  }
  if (!removed && removed.error().code() == Errc::kCancelled) co_return removed;
  if (!removed) {
    fail(ItemKind::kManifest, file, std::string(kRemoving), removed.error());
    co_return Result<void>();
  }
  std::erase_if(ledger_.entries().manifests,
                [&](const LedgerManifest& manifest) { return manifest.file == file; });
  save();
  co_return Result<void>();
}

aio::Task<bool> Reconciler::clean_up() {
  const Ledger known = ledger_.entries();
  for (const std::string& name : stale(known.configs, {})) remove_file(ItemKind::kConfig, name);
  Result<void> gone;
  for (const std::string& file : stale(files_of(known.manifests), {})) {
    gone = co_await remove_manifest(file);
    if (!gone) break;  // no time is left; files need none
  }
  for (const std::string& name : stale(known.plugins, {})) remove_file(ItemKind::kPlugin, name);
  const Ledger& left = ledger_.entries();
  co_return left.plugins.empty() && left.configs.empty() && left.manifests.empty();
}

}  // namespace mnet::cni_node
