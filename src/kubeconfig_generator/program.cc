#include "kubeconfig_generator/program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/cancel.h"
#include "aio/group.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "aio/until_signal.h"
#include "base/error.h"
#include "base/log.h"
#include "base/pflags.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "base/version.h"
#include "certs/certs.h"
#include "kube/config.h"
#include "nodeconf/kubeconfig_file.h"
#include "sys/answer_flags.h"
#include "sys/environment.h"
#include "sys/file.h"
#include "sys/write_all.h"

namespace mnet::kubeconfig_generator {
namespace {

constexpr int kFailed = 255;
constexpr std::chrono::milliseconds kPoll{10'000};  // between checks of the two kubeconfigs
constexpr std::chrono::milliseconds kStoring{100};  // the same until the certificate is stored

// Beside the kubeconfig. (The original's is /tmp, where every user may plant files and links.)
constexpr std::string_view kDefaultCertDir = "/run/multus/certs";

struct Options {
  std::string cert_dir = std::string(kDefaultCertDir);
  std::string bootstrap = "/tmp/kubeconfig";
  std::string kubeconfig = "/run/multus/kubeconfig";
  std::string duration = "10m";
  bool wants_version = false;
};

PFlags make_flags(Options& to) {
  PFlags flags("kubeconfig_generator",
               "Obtains and renews a client certificate of this node (MULTUS_NODE_NAME), and "
               "writes a kubeconfig that uses it.");
  flags.add("certdir", &to.cert_dir, "where to keep key and certificate; must exist if given");
  flags.add("bootstrap-config", &to.bootstrap,
            "kubeconfig with the credentials for the first request");
  flags.add("kubeconfig", &to.kubeconfig, "the kubeconfig to write; removed on exit");
  flags.add("cert-duration", &to.duration, "lifetime of the requested certificates");
  flags.add("version", &to.wants_version, "print the version and exit");
  return flags;
}

Result<std::string> authority_of(const kube::Config& bootstrap) {
  if (!bootstrap.ca.data.empty() || bootstrap.ca.file.empty()) return bootstrap.ca.data;
  return sys::read_file(bootstrap.ca.file);
}

// The server as the bootstrap file has it now, with the node's own certificate.
Result<std::string> text_of(const Options& options, const std::string& certificate) {
  MNET_TRY(auto&& bootstrap, kube::load_kubeconfig(options.bootstrap));
  MNET_TRY(auto&& authority, authority_of(bootstrap));
  nodeconf::Kubeconfig config{
      .cluster = "default-cluster", .user = "default-auth", .context = "default-context"};
  config.ns = "default";
  config.server = bootstrap.server;
  config.is_insecure = bootstrap.is_insecure;
  config.ca = std::move(authority);
  config.tls_server_name = bootstrap.tls_server_name;
  config.proxy_url = bootstrap.proxy_url;
  config.client_certificate = config.client_key = certificate;
  return nodeconf::kubeconfig_text(config);
}

// True if the file had to be written.
Result<bool> keep_kubeconfig(const Options& options, const std::string& certificate) {
  MNET_TRY(auto&& text, text_of(options, certificate));
  if (const auto there = sys::find_file(options.kubeconfig); there && *there == text) {
    return false;
  }
  MNET_TRY_VOID(sys::make_directories(sys::directory_of(options.kubeconfig), 0700));
  MNET_TRY_VOID(sys::replace_file(options.kubeconfig, text, 0600));
  return true;
}

Result<certs::NodeCertificateSettings> settings_of(const Options& options) {
  const std::vector<std::string> environment = sys::environment();
  certs::NodeCertificateSettings settings;
  settings.node = sys::variable(environment, "MULTUS_NODE_NAME");
  if (settings.node.empty()) return Error(Errc::kInvalid, "MULTUS_NODE_NAME is not set");
  if (options.cert_dir == kDefaultCertDir) {
    MNET_TRY_VOID(sys::make_directories(options.cert_dir, 0700));
  }
  struct stat status{};
  if (::stat(options.cert_dir.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) {
    return Error(Errc::kInvalid, cat("--certdir=", options.cert_dir, " is not a directory"));
  }
  // In a configuration an empty text means the default, but an empty flag is a mistake.
  if (options.duration.empty()) return Error(Errc::kInvalid, "--cert-duration is empty");
  auto duration = certs::parse_certificate_duration(options.duration);
  if (!duration) return std::move(duration).error().wrap("--cert-duration");
  settings.duration = *duration;
  settings.directory = options.cert_dir;
  settings.bootstrap_kubeconfig = options.bootstrap;
  settings.component = "kubeconfig_generator";
  settings.api.user_agent = user_agent("kubeconfig_generator");
  settings.api.environment = settings.api.credentials.environment = environment;
  return settings;
}

// Writes the file as soon as there is a certificate, and keeps it current.
aio::Task<void> keep(const Options* options, certs::NodeCertificate* certificate, Log log) {
  MNET_CO_TRY_VOID(co_await certificate->wait_usable(aio::kNoDeadline));
  std::string last;
  for (;;) {
    // Written only once the certificate that it points to exists.
    const bool is_stored = certificate->store().has_current();
    if (is_stored) {
      const auto kept = keep_kubeconfig(*options, certificate->store().current_path());
      const std::string now = kept ? "" : kept.error().text();
      if (!now.empty() && now != last) log.error(cat(options->kubeconfig, ": ", now));
      if (kept && *kept)
        sys::print(STDOUT_FILENO, cat("kubeconfig is written to ", options->kubeconfig));
      last = now;
    }
    MNET_CO_TRY_VOID(co_await aio::sleep_for(is_stored ? kPoll : kStoring));
  }
}

aio::Task<void> run(const Options* options, certs::NodeCertificate* certificate, Log log) {
  aio::Group group(co_await aio::asio::this_coro::executor, log);
  group.spawn("certificate", certificate->run());
  auto kept = co_await keep(options, certificate, log);
  group.cancel();
  MNET_CO_TRY_VOID(co_await aio::shielded(group.join()));
  co_return kept;
}

Result<void> generate(const Options& options) {
  MNET_TRY(auto&& settings, settings_of(options));
  const Log log({stderr_target()}, LogLevel::kVerbose);
  boost::asio::io_context loop(1);
  aio::BlockingPool pool(1);
  MNET_TRY(auto&& certificate,
           certs::NodeCertificate::make(loop.get_executor(), std::move(settings), pool, log));
  auto ran = aio::run_until_signal(loop, run(&options, certificate.get(), log));
  auto removed = sys::remove_file(options.kubeconfig);
  if (!ran) return ran;
  if (!removed) return std::move(removed).error();
  return {};
}

}  // namespace

int run_program(const std::vector<std::string>& words) {
  Options options;
  PFlags flags = make_flags(options);
  const auto status =
      sys::answer_flags(flags, options.wants_version, "kubeconfig_generator", words);
  if (status) return *status;
  const auto done = generate(options);
  if (done) return 0;
  sys::print(STDERR_FILENO, done.error().text());
  return kFailed;
}

}  // namespace mnet::kubeconfig_generator
