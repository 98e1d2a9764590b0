// Where a node keeps its certificate and key: a folder with dated files and a link to the newest
// one, as client-go's file store has them (03, 8.1), so that a node can change between the original
// and us. Blocking calls; knows nothing of the signer.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "certs/x509.h"

namespace mnet::certs {

class PairStore {
 public:
  // `<prefix>-<YYYY-MM-DD-HH-MM-SS>.pem`, `<prefix>-current.pem`, `<prefix>-updated.pem`,
  // `<prefix>.crt` and `<prefix>.key`. A relative directory is taken from the working directory.
  explicit PairStore(const std::string& directory, std::string prefix = "multus-client");

  // What API clients are told to read.
  const std::string& current_path() const { return current_; }

  // Finishes a replacement that a killed process left: `current` is missing and `updated` is a
  // link. kConflict if one of the two exists and is not a link: it must not be overwritten.
  Result<void> recover() const;

  // Whether `current` leads to a file.
  bool has_current() const;

  // Where there is no `current`, `.crt` and `.key` are read. None: there is nothing. kInvalid: what
  // is there cannot be used; whether to wait or to replace it is the caller's business.
  Result<std::optional<Pair>> load() const;

  // Stores a pair that was checked: synced, and a reader of `current` sees the old one or the new
  // one. `now` names the file. All but the two newest dated files are removed.
  Result<void> save(const Pair& pair, Time now) const;

 private:
  std::string path(const std::string& qualifier) const;
  Result<void> link_current(const std::string& target) const;
  Result<void> remove_old() const;

  std::string directory_, prefix_;
  std::string current_, updated_;
};

}  // namespace mnet::certs
