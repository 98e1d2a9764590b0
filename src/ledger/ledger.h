// What cni-node put on a node, so that exactly that can be taken away again without templates,
// variables or memory (04, 3.4). Pure.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mnet::ledger {

// Which object of the API, apart from what is in it.
struct ObjectName {
  std::string api_version, kind;
  std::string ns;  // empty: none was named
  std::string name;

  friend bool operator==(const ObjectName&, const ObjectName&) = default;
};

struct ManifestEntry {
  std::string file = {};
  std::string hash = {};  // of the text that was applied; empty: not wholly applied
  std::vector<ObjectName> objects = {};

  friend bool operator==(const ManifestEntry&, const ManifestEntry&) = default;
};

// A file of the node at one time; its bytes are kept beside the ledger under their SHA-256.
struct FileVersion {
  std::string sha256 = {};
  std::string link = {};  // what a symbolic link says, which has no bytes
  mode_t mode = 0;
  uid_t user = 0;
  gid_t group = 0;

  friend bool operator==(const FileVersion&, const FileVersion&) = default;
};

// A file that we wrote.
struct OwnedFile {
  std::string path = {};
  std::string sha256 = {};   // of what we wrote
  std::string earlier = {};  // of what we wrote before it, until that is surely replaced
  std::string version = {};  // of the plugin, where it is known
  // What another program had put there; it comes back when ours goes.
  std::optional<FileVersion> kept = {};

  bool is_ours(std::string_view found) const {
    return !found.empty() && (found == sha256 || found == earlier);
  }
  friend bool operator==(const OwnedFile&, const OwnedFile&) = default;
};

// What the last run did to a file.
struct Change {
  std::string path = {};
  std::optional<FileVersion> before = {}, after = {};  // none: no file
  std::optional<OwnedFile> owned_before = {};
  bool is_undone = false;  // by a rollback that is not complete: `before` is what it undid

  friend bool operator==(const Change&, const Change&) = default;
};

struct Ledger {
  // Set by `watch` only.
  std::string source = {};  // where the desired items are named: a ConfigMap, or the options
  std::vector<std::string> plugins = {}, configs = {};
  std::vector<ManifestEntry> manifests = {};
  // Of all commands. Without `has_files` an older version wrote the ledger, which put there all
  // that is in the lists.
  bool has_files = true;
  std::vector<OwnedFile> files = {};
  std::vector<Change> last = {};  // newest last

  ManifestEntry* find_manifest(std::string_view file);
  const ManifestEntry* find_manifest(std::string_view file) const;
  std::vector<std::string> manifest_files() const;
  const OwnedFile* find_file(std::string_view path) const;
  void forget_file(std::string_view path);
  friend bool operator==(const Ledger&, const Ledger&) = default;
};

// kProtocol: the ledger of another version, which must not be thrown away. Other errors: it is
// damaged.
Result<Ledger> parse_ledger(std::string_view text);
std::string dump_ledger(const Ledger& ledger);

}  // namespace mnet::ledger
