#include "daemon/uninstall.h"

#include <sys/stat.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "daemon/assembly.h"
#include "daemon/config.h"
#include "daemon/node_config.h"
#include "daemon/process.h"
#include "handover/handover.h"
#include "http/http.h"
#include "nodeconf/generate.h"
#include "nodeconf/restore.h"
#include "store/store.h"
#include "sys/copy_file.h"
#include "sys/file.h"
#include "wire/wire.h"

namespace mnet::daemon {
namespace {

// Where the daemon sees the root of the node.
std::string node_root(const Config& config) {
  constexpr std::string_view kNamespace = "/ns/mnt";
  const std::string& space = config.delegate_mount_namespace;
  if (space.ends_with(kNamespace)) {
    return cat(space.substr(0, space.size() - kNamespace.size()), "/root");
  }
  return config.chroot_dir;
}

std::string shim_path(const Config& config) {
  return clean_path(cat(node_root(config), "/", config.plugin_dir(), "/", config.type));
}

bool daemon_answers(const std::string& socket) {
  http::ClientRequest request;
  request.target = "/healthz";
  const auto answer = aio::run(http::request_unix(
      socket, std::move(request), std::chrono::steady_clock::now() + std::chrono::seconds(2)));
  return answer || answer.error().code() != Errc::kUnavailable;
}

// Something must read the folder of manifests: a DEL without a record would wait in vain for the
// first reading.
aio::Task<std::size_t> drain_with(Assembly* assembly, Log log) {
  const auto executor = co_await aio::asio::this_coro::executor;
  aio::Group readers(executor, std::move(log));
  if (!assembly->config.objects_dir.empty()) readers.spawn("objects", assembly->objects.follow());
  auto remaining = co_await assembly->pending.drain();
  readers.cancel();
  (void)co_await readers.join();
  co_return remaining;
}

class Uninstall {
 public:
  Uninstall(const Config& config, const Log& log)
      : config_(config), log_(log), socket_(wire::socket_path(config.socket_dir)) {
    options_.cni_config_dir = clean_path(config.cni_config_dir);
    options_.autoconfig_dir = autoconfig_dir(config);
    options_.own_type = config.type;
    options_.own_file = cat(options_.cni_config_dir, "/", own_name());
  }

  Uninstalled run() {
    if (daemon_answers(socket_)) {
      left(cat("a daemon still serves ", socket_,
               ": nothing was changed; delete the DaemonSet first"));
      return std::move(outcome_);
    }
    restore();
    drain();
    remove_configuration();
    // A DEL may have arrived meanwhile; from now on none can.
    drain();
    report_dels();
    sweep();
    remove("shim", shim_path(config_));
    remove_socket();
    return std::move(outcome_);
  }

 private:
  std::string own_name() const {
    if (config_.is_automatic()) return std::string(nodeconf::kOwnFile);
    return std::filesystem::path(config_.multus_config_file).filename().string();
  }

  void done(std::string what) { outcome_.done.push_back(std::move(what)); }
  void left(std::string what) { outcome_.left.push_back(std::move(what)); }

  void restore() {
    const auto restored = nodeconf::restore_primary(options_);
    if (restored) {
      done(cat("the primary CNI configuration is ", *restored));
    } else {
      left(cat("no primary CNI configuration; the node has no network until it gets one: ",
               restored.error().text()));
    }
  }

  void drain() {
    aio::asio::io_context loop(1);
    Assembly assembly(loop.get_executor(), config_, log_);
    const auto ended = aio::run(loop, end_orphans(assembly.pool, log_));
    if (!ended) log_.error("cannot end the delegates of an earlier daemon", ended.error());
    const auto remaining = aio::run(loop, drain_with(&assembly, log_));
    remaining_ = remaining ? *remaining : 0;
    unread_ = remaining ? "" : remaining.error().text();
    directories_ = assembly.pending.directories();
  }

  // Files that killed daemons left half written: no process writes there any more.
  void sweep() {
    for (const std::string& directory : directories_) {
      const auto swept = store::sweep(directory, 0);
      if (!swept) log_.error("cannot remove temporary files", swept.error());
    }
  }

  void remove_configuration() {
    const bool is_users =
        !config_.is_automatic() && sys::is_same_file(config_.multus_config_file, options_.own_file);
    if (is_users) {
      left(cat(options_.own_file, " is your own file (multusConfigFile): remove it"));
    } else {
      remove("CNI configuration", options_.own_file);
    }
    for (const std::string& path : nodeconf::other_multus_configs(options_)) {
      left(cat(path, " names Multus and is not our file: remove it"));
    }
  }

  void remove(std::string_view what, const std::string& path) {
    const auto removed = sys::remove_file(path);
    if (!removed) return left(cat(what, " ", path, ": ", removed.error().text()));
    done(cat(*removed ? "removed the " : "there is no ", what, " ", path));
  }

  void remove_socket() {
    struct stat status{};
    const bool is_other = ::lstat(socket_.c_str(), &status) == 0 && !S_ISSOCK(status.st_mode);
    if (is_other) return left(cat(socket_, " is not a socket"));
    remove("socket", socket_);
    handover::remove_dead_names(socket_);
  }

  void report_dels() {
    if (!unread_.empty()) left(cat("pending DELs: ", unread_));
    if (remaining_ == 0) return;
    left(cat(remaining_,
             " pending DELs failed and stay recorded; the log says why; run this again"));
  }

  const Config& config_;
  const Log& log_;
  std::string socket_;
  nodeconf::RestoreOptions options_;
  Uninstalled outcome_;
  std::size_t remaining_ = 0;
  std::string unread_;
  std::set<std::string> directories_;  // in which records were looked for
};

}  // namespace

Uninstalled uninstall(const Config& config, const Log& log) { return Uninstall(config, log).run(); }

}  // namespace mnet::daemon
