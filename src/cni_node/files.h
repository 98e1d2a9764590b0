// Plugins and configurations in the node's directories: one item at a time, replaced whole, never
// touched if it is as it should be (04, 1.8 and 1.12). Says what it does.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cni_node/command.h"
#include "cni_node/names.h"
#include "ledger/ledger_file.h"
#include "ledger/owned_files.h"
#include "nodetools/output.h"
#include "sys/copy_file.h"
#include "sys/directory.h"
#include "sys/file_lock.h"

namespace mnet::cni_node {

struct FileSettings {
  bool validates = true;  // configurations must be JSON
  bool is_quiet = false;  // no content is shown
  bool is_dry = false;    // nothing is changed, differences are shown
  bool downgrades = false;
  std::chrono::milliseconds patience{30'000};  // with another process that has a directory
  sys::FileLock::Stops stops = {};             // ends such a wait
};

// A configuration as it shall be on the node.
struct Rendered {
  std::string text;
  mode_t mode = 0644;
};

class Files {
 public:
  // Without a ledger whatever has an item's name is ours; it must outlive this.
  Files(Directories directories, FileSettings settings, nodetools::Output& output,
        ledger::LedgerFile* ledger = nullptr);

  // Each says whether it changed anything. `pin`: the SHA-256 that the plugin must have; empty:
  // any.
  Result<bool> install_plugin(const std::string& name, const std::string& pin = {});
  Result<bool> remove_plugin(const std::string& name);
  // Renders and writes while no other process of ours changes the directory, so that of two
  // processes the later one has the newer files.
  Result<bool> install_config(const std::string& name, bool checks_pointers = false);
  Result<bool> remove_config(const std::string& name);
  // What is installed from here on is another run, for rollback().
  void begin_run() { owned_.begin_run(); }
  // Whether everything is as before the last run.
  Result<bool> rollback();
  // Takes over a ledger of a version that did not record files.
  Result<void> adopt(const ledger::Ledger& known);

  // The template with its pointers expanded, checked. kUnavailable: a file that it points to is
  // not there; kProtocol: one is not JSON, though its name says so (asked only if
  // `checks_pointers`: its writer may not have finished).
  Result<Rendered> render(const std::string& name, bool checks_pointers = false) const;
  // The files that the template points to; an error if it cannot be read.
  Result<std::vector<std::string>> pointers_of(const std::string& name) const;

  // Whether the node has it just so.
  bool has_config(const std::string& name, const Rendered& rendered) const;
  bool has_plugin(const std::string& name, const std::string& pin = {}) const;
  // The plugin of the image; an error if there is none, or if it is not the one of the pin.
  Result<sys::Blocks> open_plugin(const std::string& name, const std::string& pin = {}) const;
  // Signatures of a plugin's source and of the node's copy: they differ after a change.
  std::string source_signature(const std::string& name) const;
  std::string target_signature(const std::string& name) const;

  // What the ledger says of a file; none without one.
  std::optional<ledger::OwnedFile> find_owned(const std::string& path) const {
    return owned_.find(path);
  }

  const Directories& directories() const { return directories_; }

 private:
  Result<sys::Directory::Content> load_template(const std::string& name) const;
  bool would_downgrade(const std::string& name, const std::string& version);
  Result<bool> take_away(const std::string& directory, const std::string& name, bool shows_text);
  // What a dry run says instead.
  Result<bool> pretend_put(const std::string& directory, const std::string& name,
                           sys::Blocks& content, mode_t mode);
  Result<bool> pretend_config(const std::string& name, const Rendered& rendered);
  Result<bool> pretend_take_away(const std::string& directory, const std::string& name,
                                 bool shows_text);
  void show_config(const std::string& name, const Rendered& rendered);
  void show_change(const std::optional<sys::Directory::Content>& before, const Rendered& after);
  void warn_of_no_volume(const std::string& directory);

  const Directories directories_;
  const FileSettings settings_;
  nodetools::Output& output_;
  ledger::OwnedFiles owned_;
  std::map<std::string, Rendered> imagined_;  // what a dry run would have written
  std::vector<std::string> warned_;           // directories
};

}  // namespace mnet::cni_node
