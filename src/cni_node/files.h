// Plugins and configurations in the node's directories: one item at a time, replaced whole, never
// touched if it is as it should be (04, 1.8 and 1.12). Says what it does.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cni_node/command.h"
#include "cni_node/names.h"
#include "nodetools/output.h"

namespace mnet::cni_node {

struct FileSettings {
  bool validates = true;  // configurations must be JSON
  bool is_quiet = false;  // no content is shown
  bool is_dry = false;    // nothing is changed, differences are shown
};

// A configuration as it shall be on the node.
struct Rendered {
  std::string text;
  mode_t mode = 0644;
};

class Files {
 public:
  Files(Directories directories, FileSettings settings, nodetools::Output& output);

  // Each says whether it changed anything.
  Result<bool> install_plugin(const std::string& name);
  Result<bool> remove_plugin(const std::string& name);
  // Renders and writes.
  Result<bool> install_config(const std::string& name);
  Result<bool> remove_config(const std::string& name);

  // The template with its pointers expanded, checked. kUnavailable: a file that it points to is
  // not there; kProtocol: one is not JSON, though its name says so (asked only if
  // `checks_pointers`: its writer may not have finished).
  Result<Rendered> render(const std::string& name, bool checks_pointers = false) const;
  Result<bool> write_config(const std::string& name, const Rendered& rendered);
  // The files that the template points to; an error if it cannot be read.
  Result<std::vector<std::string>> pointers_of(const std::string& name) const;

  // Whether the node has it just so.
  bool has_config(const std::string& name, const Rendered& rendered) const;
  bool has_plugin(const std::string& name) const;
  // Of a plugin's source and of what the node has: other texts after a change.
  std::string source_signature(const std::string& name) const;
  std::string target_signature(const std::string& name) const;

  const Directories& directories() const { return directories_; }

 private:
  Result<std::string> load_template(const std::string& name) const;
  Result<bool> put(const std::string& directory, const std::string& name, std::string_view bytes,
                   mode_t mode, bool shows_text);
  Result<bool> take_away(const std::string& directory, const std::string& name, bool shows_text);
  void show_change(const std::string& directory, const std::string& name, std::string_view bytes,
                   bool shows_text);
  void warn_of_no_volume(const std::string& directory);

  const Directories directories_;
  const FileSettings settings_;
  nodetools::Output& output_;
  std::map<std::string, Rendered> imagined_;  // what a dry run would have written
  std::vector<std::string> warned_;           // directories
};

}  // namespace mnet::cni_node
