#include "cert_approver/program.h"

#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/cancel.h"
#include "aio/group.h"
#include "aio/task.h"
#include "aio/until_signal.h"
#include "base/command_line.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "base/version.h"
#include "cert_approver/approver.h"
#include "cert_approver/health.h"
#include "http/http.h"
#include "kube/kube.h"
#include "sys/environment.h"
#include "sys/write_all.h"

namespace mnet::cert_approver {
namespace {

constexpr int kStartFailed = 255;  // as the original
constexpr std::string_view kAddressVariable = "CERT_APPROVER_ADDRESS";

struct Options {
  std::string kubeconfig;
  std::string address = "127.0.0.1:9097";
  std::string log_level = "verbose";
  std::string rescan = "1h";
  bool wants_version = false;
};

GoFlags flags_of(Options& options) {
  GoFlags flags("cert-approver",
                "Approves or denies the requests of multus daemons for client certificates "
                "and leaves other requests alone. Needs no flag in a cluster.");
  flags.add("kubeconfig", &options.kubeconfig,
            "kubeconfig for the API server; empty: the pod's service account");
  flags.add("address", &options.address,
            "host:port of /healthz, /readyz and /metrics; empty: none. Also set by the variable "
            "CERT_APPROVER_ADDRESS");
  flags.add("log-level", &options.log_level, "debug, verbose, error or panic");
  flags.add("rescan", &options.rescan,
            "how often to look at all requests, in addition to the watch");
  flags.add("version", &options.wants_version, "print the version and exit");
  return flags;
}

struct Setup {
  kube::Config config;
  std::optional<http::ListenAddress> address;
  ApproverSettings settings;
};

Result<Setup> set_up(const Options& options, const std::vector<std::string>& environment) {
  Setup out;
  MNET_TRY(auto&& config, options.kubeconfig.empty() ? kube::in_cluster_config(environment)
                                                     : kube::load_kubeconfig(options.kubeconfig));
  out.config = std::move(config);
  if (!options.address.empty()) {
    auto address = http::parse_listen_address(options.address);
    if (!address) return std::move(address).error().wrap("address");
    out.address = *std::move(address);
  }
  auto rescan = parse_go_duration(options.rescan);
  if (!rescan) return std::move(rescan).error().wrap("rescan");
  out.settings.rescan = std::chrono::duration_cast<std::chrono::milliseconds>(*rescan);
  if (out.settings.rescan < std::chrono::seconds(1)) {
    return Error(Errc::kInvalid, "rescan: must be at least 1s");
  }
  return out;
}

aio::Task<void> approve(Approver* approver, Health* health, Log log) {
  aio::Group beside(co_await aio::asio::this_coro::executor, log);
  if (health != nullptr) beside.spawn("health and metrics", health->listen());
  auto ended = co_await approver->run();
  beside.cancel();
  (void)co_await aio::shielded(beside.join());
  co_return ended;
}

int run(Setup setup, const std::vector<std::string>& environment, const Log& log) {
  kube::ApiSettings settings;
  settings.user_agent = user_agent("cert-approver");
  settings.environment = environment;
  auto api = kube::Api::make(std::move(setup.config), std::move(settings), log);
  if (!api) {
    log.error("cannot start", api.error());
    return kStartFailed;
  }
  aio::asio::io_context loop(1);
  Approver approver(loop.get_executor(), std::shared_ptr<kube::Api>(*std::move(api)),
                    std::move(setup.settings), log);
  std::optional<Health> health;
  if (setup.address) health.emplace(loop.get_executor(), approver, *setup.address, log);
  const auto ended =
      aio::run_until_signal(loop, approve(&approver, health ? &*health : nullptr, log));
  if (ended) return 0;
  log.error("cert-approver stops", ended.error());
  return 1;
}

}  // namespace

int run_program(const std::vector<std::string>& words) {
  const std::vector<std::string> environment = sys::environment();
  Options options;
  if (const std::string address = sys::variable(environment, kAddressVariable); !address.empty()) {
    options.address = address;
  }
  GoFlags flags = flags_of(options);
  const auto parsed = flags.parse(words);
  if (parsed && *parsed == GoFlags::Outcome::kHelp) {
    sys::print(STDERR_FILENO, flags.usage());
    return 0;
  }
  if (options.wants_version) {
    sys::print(STDOUT_FILENO, version_line("cert-approver"));
    return 0;
  }
  const auto level = parse_log_level(options.log_level);
  const Log log({stderr_target()}, level.value_or(LogLevel::kVerbose));
  // The original takes no arguments and ignores any.
  if (!parsed) log.warning(cat(parsed.error().text(), ": arguments after it are ignored"));
  auto setup = set_up(options, environment);
  if (!setup) {
    sys::print(STDERR_FILENO, cat("cert-approver: ", setup.error().text()));
    return kStartFailed;
  }
  return run(*std::move(setup), environment, log);
}

}  // namespace mnet::cert_approver
