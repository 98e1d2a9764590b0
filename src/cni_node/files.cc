#include "cni_node/files.h"

#include <sys/stat.h>
#include <sys/types.h>

#include <algorithm>
#include <chrono>
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
#include "cni_node/template.h"
#include "json/json.h"
#include "nodetools/diff_text.h"
#include "nodetools/follow_files.h"
#include "nodetools/output.h"
#include "sys/directory.h"
#include "sys/file_lock.h"

namespace mnet::cni_node {
namespace {

constexpr mode_t kPluginMode = 0755;
constexpr mode_t kConfigMode = 0644;
constexpr mode_t kDirectoryMode = 0755;
constexpr std::string_view kTemporary = ".cni-node";
constexpr long kLeftOverAge = 3600;
constexpr std::chrono::seconds kPatience{30};
constexpr std::size_t kMaxPlugin = 512u << 20;
constexpr std::size_t kMaxTemplate = 10u << 20;
constexpr std::size_t kMaxPointed = 1u << 20;

Result<sys::Directory::Content> read_plugin(const std::string& source, const std::string& name) {
  MNET_TRY(auto&& directory, sys::Directory::open(source));
  MNET_TRY(auto&& found, directory.find(name, kMaxPlugin));
  if (!found) {
    return Error(Errc::kNotFound, cat("no such plugin in ", source,
                                      " (`cni-node list` shows the available ones; "
                                      "add others to the image or mount them there)"));
  }
  return *std::move(found);
}

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

Files::Files(Directories directories, FileSettings settings, nodetools::Output& output)
    : directories_(std::move(directories)), settings_(settings), output_(output) {}

Result<std::string> Files::load_template(const std::string& name) const {
  MNET_TRY(auto&& directory, sys::Directory::open(directories_.config_source));
  MNET_TRY(auto&& found, directory.find(name, kMaxTemplate));
  if (!found) {
    return Error(Errc::kNotFound, cat("no such template in ", directories_.config_source));
  }
  return std::move(found->bytes);
}

Result<std::vector<std::string>> Files::pointers_of(const std::string& name) const {
  MNET_TRY(auto&& text, load_template(name));
  return pointers_in(text);
}

Result<Rendered> Files::render(const std::string& name, bool checks_pointers) const {
  MNET_TRY(auto&& text, load_template(name));
  // With nothing in the pointers' places: what the template itself is.
  MNET_TRY(const auto& bare,
           expand_pointers(text, [](const std::string&) { return Result<std::string>("null"); }));
  const bool is_for_multus = is_multus(bare);
  std::optional<sys::Directory> target;
  Rendered out{.text = {}, .mode = kConfigMode};

  auto content = [&](const std::string& pointed) -> Result<std::string> {
    if (pointed == name) return Error(Errc::kInvalid, "refers to itself");
    sys::Directory::Content file;
    if (const auto planned = imagined_.find(pointed); planned != imagined_.end()) {
      file = {.bytes = planned->second.text, .mode = planned->second.mode};
    } else {
      if (!target) {
        auto opened = sys::Directory::open(directories_.config_target);
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
  const auto target = sys::Directory::open(directories_.config_target);
  return target && target->holds(name, rendered.text, rendered.mode);
}

bool Files::has_plugin(const std::string& name) const {
  const auto target = sys::Directory::open(directories_.plugin_target);
  const auto source = read_plugin(directories_.plugin_source, name);
  return target && source && target->holds(name, source->bytes, kPluginMode);
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

Result<bool> Files::install_plugin(const std::string& name) {
  output_.print(cat("Installing CNI plugin ", name, "..."));
  MNET_TRY(auto&& source, read_plugin(directories_.plugin_source, name));
  if (directories_.is_usual_plugin_target) warn_of_no_volume(directories_.plugin_target);
  return put(directories_.plugin_target, name, source.bytes, kPluginMode, false);
}

Result<bool> Files::remove_plugin(const std::string& name) {
  output_.print(cat("Uninstalling CNI plugin ", name, "..."));
  return take_away(directories_.plugin_target, name, false);
}

Result<bool> Files::install_config(const std::string& name) {
  MNET_TRY(auto&& rendered, render(name));
  return write_config(name, rendered);
}

Result<bool> Files::write_config(const std::string& name, const Rendered& rendered) {
  output_.print(cat("Installing CNI configuration from ", name, "..."));
  if (!settings_.is_quiet)
    output_.print(nodetools::block(name, shown(rendered.text, rendered.mode)));
  if (settings_.is_dry) imagined_[name] = rendered;
  if (directories_.is_usual_config_target) warn_of_no_volume(directories_.config_target);
  return put(directories_.config_target, name, rendered.text, rendered.mode, true);
}

Result<bool> Files::remove_config(const std::string& name) {
  output_.print(cat("Uninstalling CNI configuration ", name, "..."));
  return take_away(directories_.config_target, name, true);
}

Result<bool> Files::put(const std::string& directory, const std::string& name,
                        std::string_view bytes, mode_t mode, bool shows_text) {
  if (settings_.is_dry) {
    const auto existing = sys::Directory::open(directory);
    if (existing && existing->holds(name, bytes, mode)) {
      output_.print(cat(directory, "/", name, " would stay unchanged"));
      return false;
    }
    show_change(directory, name, bytes, shows_text && may_be_shown(mode));
    return true;
  }
  MNET_TRY(auto&& target, sys::Directory::make(directory, kDirectoryMode));
  MNET_TRY([[maybe_unused]] const auto& lock,
           sys::FileLock::take_directory_within(directory, kPatience));
  target.sweep(kTemporary, kLeftOverAge);
  if (target.holds(name, bytes, mode)) return false;
  MNET_TRY_VOID(target.replace(name, bytes, mode, kTemporary));
  return true;
}

Result<bool> Files::take_away(const std::string& directory, const std::string& name,
                              bool shows_text) {
  auto target = sys::Directory::open(directory);
  if (!target && target.error().code() == Errc::kNotFound) return false;
  if (!target) return std::move(target).error();
  if (settings_.is_dry) {
    MNET_TRY(auto&& found, target->find(name, kMaxPlugin));
    if (!found) {
      output_.print(cat(directory, "/", name, " does not exist"));
      return false;
    }
    output_.print(cat(directory, "/", name, " would be removed"));
    if (shows_text && !settings_.is_quiet && may_be_shown(found->mode)) {
      output_.print(nodetools::diff_text(found->bytes, ""));
    }
    return true;
  }
  MNET_TRY([[maybe_unused]] const auto& lock,
           sys::FileLock::take_directory_within(directory, kPatience));
  return target->remove(name);
}

void Files::show_change(const std::string& directory, const std::string& name,
                        std::string_view bytes, bool shows_text) {
  const auto existing = sys::Directory::open(directory);
  const auto before = existing ? existing->find(name, kMaxPlugin)
                               : Result<std::optional<sys::Directory::Content>>(existing.error());
  const bool is_there = before && *before;
  output_.print(cat(directory, "/", name, is_there ? " would be changed" : " would be created"));
  if (!shows_text || settings_.is_quiet) return;
  if (is_there && !may_be_shown((*before)->mode)) return;
  const std::string difference = nodetools::diff_text(is_there ? (*before)->bytes : "", bytes);
  if (!difference.empty()) output_.print(difference);
}

void Files::warn_of_no_volume(const std::string& directory) {
  if (settings_.is_dry || std::ranges::find(warned_, directory) != warned_.end()) return;
  warned_.push_back(directory);
  if (!is_below_a_mount(directory)) {
    output_.complain(directory,
                     "warning: not a mount point, so this changes the container and not the node");
  }
}

}  // namespace mnet::cni_node
