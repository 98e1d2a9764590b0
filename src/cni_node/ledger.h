// What `cni-node watch` has installed, so that it can be removed again without templates,
// variables or memory (04, 3.4).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cni_node/names.h"
#include "cni_node/objects.h"
#include "nodetools/output.h"

namespace mnet::cni_node {

struct LedgerManifest {
  std::string file;
  std::string hash;  // of the text that was applied; empty: not wholly applied
  std::vector<ObjectName> objects;

  friend bool operator==(const LedgerManifest&, const LedgerManifest&) = default;
};

struct Ledger {
  std::string source;  // what says what is desired: a ConfigMap, or the options
  Names plugins, configs;
  std::vector<LedgerManifest> manifests;

  LedgerManifest* find_manifest(std::string_view file);
  Names manifest_files() const;
  friend bool operator==(const Ledger&, const Ledger&) = default;
};

// kProtocol: another version's, which must not be thrown away. Other errors: damaged.
Result<Ledger> parse_ledger(std::string_view text);
std::string dump_ledger(const Ledger& ledger);

// The ledger on disk: read once, written whole after each change.
class LedgerFile {
 public:
  // One that does not exist is empty; a damaged one is renamed to `<path>.corrupt`, said, and
  // empty. An error: unreadable, or of another version.
  static Result<LedgerFile> load(std::string path, nodetools::Output& output);

  Ledger& entries() { return ledger_; }
  const Ledger& entries() const { return ledger_; }
  // Writes if something differs from what was written last.
  Result<void> save();

 private:
  LedgerFile(std::string path, Ledger ledger)
      : path_(std::move(path)), ledger_(std::move(ledger)), saved_(ledger_) {}

  std::string path_;
  Ledger ledger_, saved_;
};

}  // namespace mnet::cni_node
