#include "cni_node/files.h"

#include <sys/stat.h>
#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni_node/command.h"
#include "cni_node/mounts.h"
#include "cni_node/plugin_versions.h"
#include "cni_node/template.h"
#include "json/json.h"
#include "ledger/ledger.h"
#include "ledger/ledger_file.h"
#include "ledger/owned_files.h"
#include "nodetools/diff_text.h"
#include "nodetools/follow_files.h"
#include "nodetools/output.h"
#include "sys/copy_file.h"
#include "sys/directory.h"

namespace mnet::cni_node {
namespace {

constexpr mode_t kPluginMode = 0755;
constexpr mode_t kConfigMode = 0644;
constexpr std::size_t kMaxTemplate = 10u << 20;
constexpr std::size_t kMaxPointed = 1u << 20;

// The file `name` of the node, as a template that has `own` as its name sees it.
Result<sys::Directory::Content> read_pointed(const sys::Directory& target,
                                             const std::string& name) {
  auto found = target.find(name, kMaxPointed);
  if (!found) return std::move(found).error().wrap(cat("pointer file ", name));
  if (!*found) return Error(Errc::kUnavailable, cat("pointer file ", name, " not found"));
  return **std::move(found);
}

// Logs have more readers than a file that is not for everyone, and a pointer may have brought a
// token into it.
bool may_be_shown(mode_t mode) { return (mode & 0004) != 0; }

std::string shown(std::string text, mode_t mode) {
  if (may_be_shown(mode)) return text;
  return cat("(", text.size(), " bytes, not shown: the file is not readable for everyone)");
}

Result<void> check_json(const std::string& name, const std::string& text) {
  if (!has_cni_suffix(name)) return {};
  const auto parsed = json::parse_object(text);
  if (parsed) return {};
  return Error(Errc::kInvalid, cat("not valid JSON after expansion: ", parsed.error().text()));
}

}  // namespace

Files::Files(Directories directories, FileSettings settings, nodetools::Output& output,
             ledger::LedgerFile* ledger)
    : directories_(std::move(directories)),
      settings_(std::move(settings)),
      output_(output),
      owned_(ledger, {.root = directories_.host_root,
                      .patience = settings_.patience,
                      .stops = settings_.stops}) {}

Result<sys::Directory::Content> Files::load_template(const std::string& name) const {
  MNET_TRY(auto&& directory, sys::Directory::open(directories_.config_source));
  MNET_TRY(auto&& found, directory.find(name, kMaxTemplate));
  if (!found) {
    return Error(Errc::kNotFound, cat("no such template in ", directories_.config_source));
  }
  return *std::move(found);
}

Result<std::vector<std::string>> Files::pointers_of(const std::string& name) const {
  MNET_TRY(const auto& found, load_template(name));
  return pointers_in(found.bytes);
}

Result<Rendered> Files::render(const std::string& name, bool checks_pointers) const {
  MNET_TRY(const auto& source, load_template(name));
  const std::string& text = source.bytes;
  // With nothing in the pointers' places: what the template itself is.
  MNET_TRY(const auto& bare,
           expand_pointers(text, [](const std::string&) { return Result<std::string>("null"); }));
  const bool is_for_multus = is_multus(bare);
  std::optional<sys::Directory> target;
  // What not everyone may read must not become readable for everyone.
  Rendered out{.text = {}, .mode = kConfigMode & (source.mode | 0600U)};

  auto content = [&](const std::string& pointed) -> Result<std::string> {
    if (pointed == name) return Error(Errc::kInvalid, "refers to itself");
    sys::Directory::Content file;
    if (const auto planned = imagined_.find(pointed); planned != imagined_.end()) {
      file = {.bytes = planned->second.text, .mode = planned->second.mode};
    } else {
      if (!target) {
        auto opened = sys::Directory::open(directories_.config_target, directories_.host_root);
        if (!opened && opened.error().code() == Errc::kNotFound) {
          return Error(Errc::kUnavailable, cat("pointer file ", pointed, " not found"));
        }
        if (!opened) return std::move(opened).error();
        target.emplace(*std::move(opened));
      }
      MNET_TRY(auto&& found, read_pointed(*target, pointed));
      file = std::move(found);
    }
    if (is_for_multus && is_multus(file.bytes)) {
      return Error(Errc::kInvalid, cat("multus inside multus: ", pointed));
    }
    if (checks_pointers && has_cni_suffix(pointed) && !json::parse(file.bytes)) {
      return Error(Errc::kProtocol, cat("pointer file ", pointed, " is not valid JSON"));
    }
    out.mode &= file.mode;
    return std::move(file.bytes);
  };
  MNET_TRY(auto&& expanded, expand_pointers(text, content));
  out.text = std::move(expanded);
  if (settings_.validates) {
    MNET_TRY_VOID(check_json(name, out.text));
  }
  return out;
}

bool Files::has_config(const std::string& name, const Rendered& rendered) const {
  const auto target = sys::Directory::open(directories_.config_target, directories_.host_root);
  return target && target->holds(name, rendered.text, rendered.mode);
}

Result<sys::Blocks> Files::open_plugin(const std::string& name, const std::string& pin) const {
  const std::string& source = directories_.plugin_source;
  MNET_TRY(auto&& directory, sys::Directory::open(source));
  MNET_TRY(auto&& found, directory.find_blocks(name));
  if (!found) {
    return Error(Errc::kNotFound, cat("no such plugin in ", source,
                                      " (`cni-node list` shows the available ones; "
                                      "add others to the image or mount them there)"));
  }
  if (pin.empty()) return *std::move(found);
  MNET_TRY(const auto& sha256, found->sha256());
  if (sha256 == pin) return *std::move(found);
  return Error(Errc::kConflict,
               cat("its SHA-256 is ", sha256, " and not ", pin, " as asked; nothing was changed"));
}

bool Files::has_plugin(const std::string& name, const std::string& pin) const {
  const auto target = sys::Directory::open(directories_.plugin_target, directories_.host_root);
  if (!pin.empty()) {
    const auto there = target ? target->look(name) : target.error();
    return there && *there && (*there)->sha256 == pin && (*there)->mode == kPluginMode;
  }
  auto source = open_plugin(name);
  return target && source && target->holds(name, *source, kPluginMode);
}

std::string Files::source_signature(const std::string& name) const {
  struct stat status{};
  if (::stat(cat(directories_.plugin_source, "/", name).c_str(), &status) != 0) return "none";
  return nodetools::file_state(status);
}

std::string Files::target_signature(const std::string& name) const {
  struct stat status{};
  if (::lstat(cat(directories_.plugin_target, "/", name).c_str(), &status) != 0) return "none";
  return nodetools::file_state(status);
}

Result<bool> Files::install_plugin(const std::string& name, const std::string& pin) {
  output_.print(cat("Installing CNI plugin ", name, "..."));
  if (!pin.empty() && has_plugin(name, pin)) return false;  // whatever the image has
  MNET_TRY(auto&& source, open_plugin(name, pin));
  if (settings_.is_dry) {
    return pretend_put(directories_.plugin_target, name, source, kPluginMode);
  }
  if (directories_.is_usual_plugin_target) warn_of_no_volume(directories_.plugin_target);
  MNET_TRY(auto&& place, owned_.make(directories_.plugin_target));
  const std::string version = plugin_version(directories_.plugin_source, name);
  if (pin.empty() && would_downgrade(name, version)) return false;
  return owned_.put(place, name, source, {.mode = kPluginMode, .version = version});
}

// Another image, or the old pod of a rolling update, may have an older one.
bool Files::would_downgrade(const std::string& name, const std::string& version) {
  const auto owned = owned_.find(cat(directories_.plugin_target, "/", name));
  if (settings_.downgrades || !owned || !is_older(version, owned->version)) return false;
  const auto target = sys::Directory::open(directories_.plugin_target, directories_.host_root);
  const auto there = target ? target->look(name) : target.error();
  if (!there || !*there || !owned->is_ours((*there)->sha256)) return false;
  output_.complain(name, cat("warning: version ", owned->version, " is installed and stays: ",
                             version, " is older; --allow-downgrade installs it"));
  return true;
}

Result<bool> Files::remove_plugin(const std::string& name) {
  output_.print(cat("Uninstalling CNI plugin ", name, "..."));
  return take_away(directories_.plugin_target, name, false);
}

Result<bool> Files::install_config(const std::string& name, bool checks_pointers) {
  if (settings_.is_dry) {
    MNET_TRY(auto&& rendered, render(name, checks_pointers));
    return pretend_config(name, rendered);
  }
  // Without its template nothing is said or made.
  MNET_TRY([[maybe_unused]] const auto& text, load_template(name));
  MNET_TRY(auto&& place, owned_.make(directories_.config_target));
  MNET_TRY(const auto& rendered, render(name, checks_pointers));
  if (directories_.is_usual_config_target) warn_of_no_volume(directories_.config_target);
  show_config(name, rendered);
  auto content = sys::Blocks::of(rendered.text);
  return owned_.put(place, name, content, {.mode = rendered.mode});
}

void Files::show_config(const std::string& name, const Rendered& rendered) {
  output_.print(cat("Installing CNI configuration from ", name, "..."));
  if (settings_.is_quiet) return;
  output_.print(nodetools::block(name, shown(rendered.text, rendered.mode)));
}

Result<bool> Files::remove_config(const std::string& name) {
  output_.print(cat("Uninstalling CNI configuration ", name, "..."));
  return take_away(directories_.config_target, name, true);
}

Result<bool> Files::take_away(const std::string& directory, const std::string& name,
                              bool shows_text) {
  if (settings_.is_dry) return pretend_take_away(directory, name, shows_text);
  auto place = owned_.enter(directory);
  if (!place && place.error().code() == Errc::kNotFound) return false;
  if (!place) return std::move(place).error();
  using Removal = ledger::OwnedFiles::Removal;
  MNET_TRY(const auto how, owned_.remove(*place, name));
  const std::string path = place->path_of(name);
  if (how == Removal::kPutBack) {
    output_.print(cat(path, " is again what it was before cni-node replaced it"));
  } else if (how == Removal::kForeign) {
    output_.complain(name, cat("warning: ", path, " stays: cni-node did not put it there"));
  } else if (how == Removal::kChanged) {
    output_.complain(name,
                     cat("warning: ", path,
                         " stays: another program changed it after cni-node had put it there"));
  }
  return how == Removal::kRemoved || how == Removal::kPutBack;
}

Result<bool> Files::rollback() {
  using Undoing = ledger::OwnedFiles::Undoing;
  MNET_TRY(const auto& undone,
           owned_.rollback({directories_.plugin_target, directories_.config_target}));
  bool is_complete = true;
  for (const auto& [path, how] : undone) {
    if (how == Undoing::kUndone) output_.print(cat(path, " is as before the last run"));
    if (how != Undoing::kChanged) continue;
    is_complete = false;
    output_.complain(path, "another program changed it since; it stays as it is");
  }
  return is_complete;
}

Result<void> Files::adopt(const ledger::Ledger& known) {
  return owned_.adopt({{.directory = directories_.plugin_target, .names = known.plugins},
                       {.directory = directories_.config_target, .names = known.configs}});
}

Result<bool> Files::pretend_put(const std::string& directory, const std::string& name,
                                sys::Blocks& content, mode_t mode) {
  const auto target = sys::Directory::open(directory, directories_.host_root);
  const std::string path = cat(directory, "/", name);
  if (target && target->holds(name, content, mode)) {
    output_.print(cat(path, " would stay unchanged"));
    return false;
  }
  const auto there = target ? target->look(name) : target.error();
  output_.print(cat(path, there && *there ? " would be changed" : " would be created"));
  return true;
}

Result<bool> Files::pretend_config(const std::string& name, const Rendered& rendered) {
  show_config(name, rendered);
  imagined_[name] = rendered;
  auto content = sys::Blocks::of(rendered.text);
  MNET_TRY(const bool changes,
           pretend_put(directories_.config_target, name, content, rendered.mode));
  const auto target = sys::Directory::open(directories_.config_target, directories_.host_root);
  auto before = target ? target->find(name, kMaxTemplate) : target.error();
  if (changes) show_change(before ? *before : std::nullopt, rendered);
  return changes;
}

void Files::show_change(const std::optional<sys::Directory::Content>& before,
                        const Rendered& after) {
  if (settings_.is_quiet || !may_be_shown(after.mode)) return;
  if (before && !may_be_shown(before->mode)) return;
  const std::string difference = nodetools::diff_text(before ? before->bytes : "", after.text);
  if (!difference.empty()) output_.print(difference);
}

Result<bool> Files::pretend_take_away(const std::string& directory, const std::string& name,
                                      bool shows_text) {
  const std::string path = cat(directory, "/", name);
  const auto target = sys::Directory::open(directory, directories_.host_root);
  if (!target && target.error().code() != Errc::kNotFound) return target.error();
  MNET_TRY(const auto& there,
           target ? target->look(name) : Result<std::optional<sys::Directory::Look>>(std::nullopt));
  if (!there) {
    output_.print(cat(path, " does not exist"));
    return false;
  }
  const auto owned = owned_.find(path);
  if (owned_.has_ledger() && (!owned || !owned->is_ours(there->sha256))) {
    output_.print(cat(path, " would stay: it is not cni-node's"));
    return false;
  }
  output_.print(cat(
      path, owned && owned->kept ? " would be put back as it was before" : " would be removed"));
  if (!shows_text || settings_.is_quiet || !may_be_shown(there->mode)) return true;
  MNET_TRY(const auto& found, target->find(name, kMaxTemplate));
  if (found) output_.print(nodetools::diff_text(found->bytes, ""));
  return true;
}

void Files::warn_of_no_volume(const std::string& directory) {
  if (std::ranges::find(warned_, directory) != warned_.end()) return;
  warned_.push_back(directory);
  if (!is_below_a_mount(directory)) {
    output_.complain(directory,
                     "warning: not a mount point, so this changes the container and not the node");
  }
}

}  // namespace mnet::cni_node
