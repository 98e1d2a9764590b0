#include "cni_node/reconcile.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/try.h"
#include "cni_node/command.h"
#include "cni_node/config_order.h"
#include "cni_node/desired.h"
#include "cni_node/item_status.h"
#include "cni_node/manifests.h"
#include "cni_node/names.h"
#include "cni_node/object_writer.h"
#include "cni_node/objects.h"
#include "cni_node/work.h"
#include "ledger/ledger.h"

namespace mnet::cni_node {
namespace {

using ledger::Ledger;
using ledger::ManifestEntry;

constexpr std::chrono::minutes kTruce{10};
constexpr std::chrono::seconds kBeingWritten{1};

}  // namespace

bool Reconciler::remember(ItemKind kind, const std::string& name) {
  const auto list = kind == ItemKind::kPlugin ? &Ledger::plugins : &Ledger::configs;
  if (contains(items_.ledger.entries().*list, name)) return true;
  auto saved = items_.ledger.update([&](Ledger& ledger) {
    if (!contains(ledger.*list, name)) (ledger.*list).push_back(name);
  });
  if (!saved) items_.fail(kind, name, "ledger", saved.error().wrap("ledger"));
  return saved.has_value();
}

ConfigOrder Reconciler::order_of(const Names& configs) const {
  std::map<std::string, std::vector<std::string>> pointers;
  for (const std::string& name : configs) {
    if (auto found = items_.files.pointers_of(name)) pointers[name] = *std::move(found);
  }
  return order_configs(configs, pointers);
}

void Reconciler::put_files(const Desired& desired, bool is_resync) {
  for (const std::string& name : desired.plugins.value_or(Names())) {
    if (items_.is_stopping()) return;
    put_plugin(name, pin_of(desired.pins, name), is_resync);
  }
  const ConfigOrder order = order_of(desired.configs.value_or(Names()));
  for (const std::string& name : order.names) {
    if (items_.is_stopping()) return;
    const auto cycle = order.cycles.find(name);
    if (cycle == order.cycles.end()) {
      put_config(name);
    } else {
      items_.fail(ItemKind::kConfig, name, cycle->second, Error(Errc::kInvalid, cycle->second));
    }
  }
}

bool Reconciler::may_write(ItemStatus& item, const std::string& name, std::string_view made_of) {
  const auto now = Clock::now();
  if (item.state() == ItemStatus::State::kHeldBack && item.retry_at() && now < *item.retry_at()) {
    return false;
  }
  if (!item.was_well_with(made_of)) return true;  // it is we who have something new
  if (item.may_restore(now)) {
    items_.output.complain(name, "warning: another program changed or removed it; restoring it");
    return true;
  }
  const std::string why = "other programs keep changing it; leaving it alone for 10 minutes";
  item.hold_back(why, now + kTruce);
  items_.output.complain(name, cat("warning: ", why));
  return false;
}

void Reconciler::put_plugin(const std::string& name, const std::string& pin, bool is_resync) {
  ItemStatus& item = items_.board.at(ItemKind::kPlugin, name);
  const std::string source = cat(items_.files.source_signature(name), " ", pin);
  const std::string both = cat(source, " ", items_.files.target_signature(name));
  if (item.must_wait(both, Clock::now())) return;
  // The bytes are compared only where a signature says that something happened.
  if (!is_resync && item.looks_well(both)) return;
  if (!items_.files.has_plugin(name, pin)) {
    if (!may_write(item, name, source) || !remember(ItemKind::kPlugin, name)) return;
    if (auto done = items_.files.install_plugin(name, pin); !done) {
      return items_.fail(ItemKind::kPlugin, name, both, done.error());
    }
  }
  if (!remember(ItemKind::kPlugin, name)) return;
  item.is_well(source, cat(source, " ", items_.files.target_signature(name)));
}

void Reconciler::note_render_trouble(ItemStatus& item, const std::string& name, const Error& why) {
  const bool is_installed = contains(items_.ledger.entries().configs, name);
  const std::string text = cat(why.text(), is_installed ? "; the last result stays" : "");
  if (why.code() == Errc::kUnavailable) {
    if (item.waits(text, {})) items_.output.complain(name, text);
  } else if (why.code() == Errc::kProtocol) {
    if (item.waits(text, Clock::now() + kBeingWritten)) items_.output.complain(name, text);
  } else {
    items_.fail(ItemKind::kConfig, name, why.text(), why);
  }
}

void Reconciler::put_config(const std::string& name) {
  ItemStatus& item = items_.board.at(ItemKind::kConfig, name);
  const auto rendered = items_.files.render(name, true);
  if (!rendered) return note_render_trouble(item, name, rendered.error());
  const std::string made_of = cat(rendered->mode, ":", sha256_hex(rendered->text));
  if (item.must_wait(made_of, Clock::now())) return;
  if (!items_.files.has_config(name, *rendered)) {
    if (!may_write(item, name, made_of) || !remember(ItemKind::kConfig, name)) return;
    if (auto done = items_.files.install_config(name, true); !done) {
      return items_.fail(ItemKind::kConfig, name, made_of, done.error());
    }
  }
  if (!remember(ItemKind::kConfig, name)) return;
  item.is_well(made_of);
}

aio::Task<void> Reconciler::do_the_rest(const Desired* desired, bool is_resync) {
  const Names names = desired->manifests.value_or(Names());
  for (const std::string& name : names) {
    if (items_.is_stopping()) co_return Result<void>();
    MNET_CO_TRY_VOID(co_await put_manifest(name, is_resync));
  }
  co_return co_await remover_.remove(desired);
}

aio::Task<void> Reconciler::put_manifest(std::string name, bool is_resync) {
  ItemStatus& item = items_.board.at(ItemKind::kManifest, name);
  auto manifest = items_.manifests.load(name);
  if (!manifest) {
    items_.fail(ItemKind::kManifest, name, manifest.error().text(), manifest.error());
    co_return Result<void>();
  }
  const std::string hash = manifest->hash;
  const ManifestEntry* known = items_.ledger.entries().find_manifest(name);
  if (!is_resync && known != nullptr && known->hash == hash) {
    item.is_well(hash);
    co_return Result<void>();
  }
  if (item.must_wait(hash, Clock::now())) co_return Result<void>();
  if (items_.manifests.may_be_unfinished(name)) {
    item.look_again(Clock::now() + kBeingWritten);
    co_return Result<void>();
  }
  auto applied = co_await apply_manifest(name, *std::move(manifest));
  if (!applied && applied.error().code() == Errc::kCancelled) co_return applied;
  if (applied) {
    items_.board.at(ItemKind::kManifest, name).is_well(hash);
  } else {
    items_.fail(ItemKind::kManifest, name, hash, applied.error());
  }
  co_return Result<void>();
}

// What may come into being is in the ledger before it does; what dropped out goes afterwards.
aio::Task<void> Reconciler::apply_manifest(std::string name, LoadedManifest manifest) {
  MNET_CO_TRY(auto&& objects, items_.manifests.show_and_parse(name, manifest, kApplying));
  MNET_CO_TRY(auto&& api, items_.manifests.writer());
  ObjectWriter* const writer = api;

  MNET_CO_TRY(auto&& planned, co_await writer->full_names(objects));
  std::vector<ObjectName> before;
  MNET_CO_TRY_VOID(items_.ledger.update([&](Ledger& ledger) {
    ManifestEntry* entry = ledger.find_manifest(name);
    if (entry == nullptr) entry = &ledger.manifests.emplace_back(ManifestEntry{.file = name});
    before = entry->objects;
    entry->hash.clear();
    for (const ObjectName& id : planned) {
      if (std::ranges::find(before, id) == before.end()) entry->objects.push_back(id);
    }
  }));

  MNET_CO_TRY_VOID(co_await writer->apply(name, objects));
  MNET_CO_TRY(auto&& present, co_await writer->full_names(objects));
  std::vector<ObjectName> dropped;
  for (const ObjectName& id : before) {
    if (std::ranges::find(present, id) == present.end()) dropped.push_back(id);
  }
  MNET_CO_TRY_VOID(co_await writer->remove(name, std::move(dropped)));
  co_return items_.ledger.update([&](Ledger& ledger) {
    ManifestEntry* entry = ledger.find_manifest(name);
    if (entry != nullptr) *entry = {.file = name, .hash = manifest.hash, .objects = present};
  });
}

std::set<std::string> Reconciler::files_to_follow(const Desired& desired) const {
  const Directories& where = items_.files.directories();
  std::set<std::string> out;
  for (const std::string& name : desired.plugins.value_or(Names())) {
    out.insert(cat(where.plugin_source, "/", name));
    out.insert(cat(where.plugin_target, "/", name));
  }
  for (const std::string& name : desired.configs.value_or(Names())) {
    out.insert(cat(where.config_source, "/", name));
    out.insert(cat(where.config_target, "/", name));
    const auto pointers = items_.files.pointers_of(name);
    if (!pointers) continue;
    for (const std::string& pointed : *pointers) out.insert(cat(where.config_target, "/", pointed));
  }
  for (const std::string& name : desired.manifests.value_or(Names())) {
    out.insert(cat(where.manifest_source, "/", name));
  }
  return out;
}

}  // namespace mnet::cni_node
