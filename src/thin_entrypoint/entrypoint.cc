#include "thin_entrypoint/entrypoint.h"

#include <sys/stat.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/error_list.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/at.h"
#include "json/json.h"
#include "nodeconf/changes.h"
#include "nodeconf/kubeconfig_file.h"
#include "nodeconf/service_account.h"
#include "sys/copy_file.h"
#include "sys/file.h"
#include "thin_entrypoint/conf.h"
#include "thin_entrypoint/options.h"

namespace mnet::thin_entrypoint {
namespace {

constexpr mode_t kSecret = 0600;
constexpr mode_t kFolder = 0755;
constexpr const char* kConfigurationCreated = "multus config file is created.";

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

Result<void> check_place(std::string_view flag, const std::string& path, bool is_folder) {
  struct stat status{};
  const auto refused = [&](std::string_view why) {
    return Error(Errc::kInvalid, cat("cannot use ", flag, "=", path, ": ", why));
  };
  if (::stat(path.c_str(), &status) != 0) return refused(errno_text(errno));
  if (S_ISDIR(status.st_mode) == is_folder) return {};
  return refused(is_folder ? "it is not a directory" : "it is a directory");
}

// Whether a multus-daemon has written it, which takes this program's place on the node and is not
// ready without it.
Result<bool> is_of_daemon(const std::string& path) {
  const auto text = sys::read_file(path);
  if (!text && text.error().os_errno() == ENOENT) return false;
  if (!text) return text.error();
  const auto conf = json::parse_object(*text);
  return conf && json::text_at(*conf, {"type"}) == "multus-shim";
}

// True if the file had to be written.
Result<bool> keep(const std::string& path, const std::string& text) {
  struct stat status{};
  const bool has_mode = ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
                        (status.st_mode & 07777u) == kSecret;
  if (const auto there = sys::read_file(path); has_mode && there && *there == text) return false;
  MNET_TRY_VOID(sys::replace_file(path, text, kSecret));
  return true;
}

}  // namespace

Entrypoint::Entrypoint(Options options, Surroundings surroundings)
    : options_(std::move(options)), surroundings_(std::move(surroundings)) {}

Result<void> Entrypoint::set_up() {
  MNET_TRY_VOID(check_places());
  MNET_TRY_VOID(copy_program());
  if (auto made = refresh_kubeconfig(); !made) return std::move(made).error();
  surroundings_.tell(cat("kubeconfig is created in ", kubeconfig_path()));
  if (!options_.is_automatic()) return copy_configuration();
  if (auto made = refresh_configuration(); !made) return std::move(made).error();
  surroundings_.tell(kConfigurationCreated);
  return {};
}

Result<void> Entrypoint::check_places() const {
  MNET_TRY_VOID(check_place("--cni-conf-dir", options_.cni_conf_dir, true));
  MNET_TRY_VOID(check_place("--cni-bin-dir", options_.cni_bin_dir, true));
  MNET_TRY_VOID(check_place("--multus-bin-file", options_.multus_bin_file, false));
  if (!options_.is_automatic()) {
    return check_place("--multus-conf-file", options_.multus_conf_file, false);
  }
  if (auto level = log_level(options_); !level) return std::move(level).error();
  return {};
}

Result<void> Entrypoint::copy_program() {
  if (options_.skip_multus_binary_copy) return {};
  auto copied = sys::copy_file(options_.multus_bin_file, cat(options_.cni_bin_dir, "/multus"));
  if (!copied) return std::move(copied).error().wrap("cannot copy multus");
  return {};
}

Result<bool> Entrypoint::refresh_kubeconfig() {
  MNET_TRY(auto&& account, nodeconf::read_service_account(surroundings_.service_account,
                                                          !options_.skip_tls_verify));
  MNET_TRY(auto&& server, nodeconf::service_url(surroundings_.environment));
  nodeconf::Kubeconfig config{.cluster = "local", .user = "multus", .context = "multus-context"};
  config.server = std::move(server);
  config.is_insecure = options_.skip_tls_verify;
  config.ca = std::move(account.ca);
  config.token = std::move(account.token);

  const std::string path = kubeconfig_path();
  for (const std::string& folder : {sys::directory_of(path), options_.multus_cni_conf_dir}) {
    if (folder.empty()) continue;
    MNET_TRY_VOID(sys::make_directories(folder, kFolder));
  }
  return keep(path, nodeconf::kubeconfig_text(config));
}

Result<void> Entrypoint::copy_configuration() {
  auto copied = sys::copy_file(options_.multus_conf_file, copied_path());
  if (!copied) return std::move(copied).error().wrap("cannot copy the multus config file");
  surroundings_.tell(cat("multus config file ", options_.multus_conf_file, " is copied."));
  return {};
}

Result<bool> Entrypoint::refresh_configuration() {
  MNET_TRY(auto&& primary, choose_primary(options_, primary_name_));
  MNET_TRY(auto&& text, sys::read_file(primary.path));
  MNET_TRY(auto&& conf, make_conf(options_, primary.path, text));
  if (conf.warnings != warnings_) {
    warnings_ = conf.warnings;
    for (const std::string& warning : warnings_) surroundings_.complain(cat("warning: ", warning));
  }
  auto written = write_configuration(conf.file, conf.text);
  if (!written) return written;
  primary_name_ = primary.name;
  if (options_.rename_conf_file && !primary.is_renamed) {
    const std::string old = cat(primary.path, ".old");
    if (std::rename(primary.path.c_str(), old.c_str()) != 0) {
      return Error::from_errno(errno, cat("rename ", primary.path, " ", old));
    }
    surroundings_.tell(cat("primary configuration ", primary.path, " is renamed to ", old));
  }
  return written;
}

Result<bool> Entrypoint::write_configuration(const std::string& name, const std::string& text) {
  MNET_TRY(auto&& written, keep(conf_path(name), text));
  const std::string sibling = conf_path(name == kConf ? kConflist : kConf);
  MNET_TRY(const bool is_the_daemons, is_of_daemon(sibling));
  if (is_the_daemons) return written;
  // The runtime would read the sibling for other versions first, or instead.
  MNET_TRY(auto&& removed, sys::remove_file(sibling));
  return written || removed;
}

aio::Task<void> Entrypoint::follow() {
  using Clock = std::chrono::steady_clock;
  nodeconf::Changes changes(folders(), surroundings_.settle,
                            [this](const Error& why) { surroundings_.complain(why.text()); });
  // Watches from here on, so that nothing is missed between a look and the wait after it.
  MNET_CO_TRY_VOID(co_await changes.wait(Clock::now()));
  for (;;) {
    const Outcome seen = check_files();
    // A program that undoes what we do must not make us spin.
    if (seen == Outcome::kWrote) {
      MNET_CO_TRY_VOID(co_await aio::sleep_for(surroundings_.rest));
    }
    const bool is_soon = seen == Outcome::kFailed || !changes.is_watching();
    MNET_CO_TRY_VOID(co_await changes.wait(
        Clock::now() + (is_soon ? surroundings_.rest : surroundings_.longest_wait)));
  }
}

Entrypoint::Outcome Entrypoint::check_files() {
  const Outcome first =
      note("kubeconfig", refresh_kubeconfig(), cat("kubeconfig is created in ", kubeconfig_path()));
  if (!follows_primary()) return first;
  const Outcome second = note("multus config file", refresh_configuration(), kConfigurationCreated);
  return std::max(first, second);
}

Entrypoint::Outcome Entrypoint::note(const std::string& subject, const Result<bool>& done,
                                     const std::string& written) {
  std::string& last = complaints_[subject];
  if (!done) {
    const std::string complaint = cat(subject, " stays as it is: ", done.error().text());
    if (complaint != last) surroundings_.complain(complaint);
    last = complaint;
    return Outcome::kFailed;
  }
  if (!last.empty()) surroundings_.tell(cat(subject, " is current again"));
  last.clear();
  if (!*done) return Outcome::kAllWell;
  surroundings_.tell(written);
  return Outcome::kWrote;
}

Result<void> Entrypoint::clean_up() {
  if (!options_.cleanup_config_on_exit) return {};
  std::vector<std::string> paths;
  if (options_.is_automatic()) {
    paths = {conf_path(kConf), conf_path(kConflist)};
  } else if (!sys::is_same_file(options_.multus_conf_file, copied_path())) {
    paths = {copied_path()};  // else it is the user's own file
  }
  ErrorList failures;
  for (const std::string& path : paths) {
    if (auto removed = sys::remove_file(path); !removed) failures.add(std::move(removed).error());
  }
  return failures.join("; ");
}

std::vector<std::string> Entrypoint::folders() const {
  std::vector<std::string> folders{surroundings_.service_account, options_.cni_conf_dir,
                                   sys::directory_of(kubeconfig_path())};
  if (follows_primary()) folders.push_back(options_.autoconfig_dir);
  return folders;
}

bool Entrypoint::follows_primary() const {
  return options_.is_automatic() && !options_.skip_config_watch;
}

std::string Entrypoint::kubeconfig_path() const {
  return clean_path(cat(options_.cni_conf_dir, "/multus.d/multus.kubeconfig"));
}

std::string Entrypoint::conf_path(std::string_view name) const {
  return clean_path(cat(options_.cni_conf_dir, "/", name));
}

std::string Entrypoint::copied_path() const {
  return conf_path(base_name(options_.multus_conf_file));
}

}  // namespace mnet::thin_entrypoint
