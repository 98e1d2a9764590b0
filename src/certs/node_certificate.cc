#include "certs/node_certificate.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "aio/blocking_pool.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "base/backoff.h"
#include "base/clock.h"
#include "base/dns_name.h"
#include "base/duration.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "certs/event.h"
#include "certs/judge.h"
#include "certs/renewal.h"
#include "certs/request_certificate.h"
#include "certs/x509.h"
#include "kube/kube.h"
#include "sys/file.h"

namespace mnet::certs {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::chrono::seconds kShortestDuration = 10min;
constexpr std::chrono::seconds kLongestDuration = std::chrono::hours(365 * 24);
constexpr std::size_t kMaxFile = 1u << 20;
constexpr auto kBetweenWarnings = 10min;
// A server that refuses a certificate this young will not like the next one better.
constexpr auto kTooYoungToRefuse = 30s;

Result<std::string> text_of(const kube::Material& material) {
  if (!material.data.empty()) return material.data;
  return sys::read_file(material.file, kMaxFile);
}

// Whom the bootstrap file trusts, as of now.
Result<std::string> load_authority(const std::string& kubeconfig) {
  MNET_TRY(auto&& config, kube::load_kubeconfig(kubeconfig));
  if (config.ca.empty())
    return Error(Errc::kInvalid, cat(kubeconfig, ": the cluster has no certificate authority"));
  return text_of(config.ca);
}

std::chrono::seconds seconds_until(Time when, Time now) {
  return std::chrono::duration_cast<std::chrono::seconds>(when - now);
}

}  // namespace

Result<std::chrono::seconds> parse_certificate_duration(std::string_view text) {
  if (text.empty()) return kShortestDuration;
  MNET_TRY(auto&& duration, parse_go_duration(text));
  if (duration < kShortestDuration) {
    return Error(Errc::kInvalid, cat(text,
                                     " is too short: the API server refuses requests for "
                                     "less than 10m (600 seconds)"));
  }
  if (duration > kLongestDuration) {
    return Error(Errc::kInvalid, cat(text,
                                     " is too long: requests for more than a year (8760h) "
                                     "are denied"));
  }
  return std::chrono::duration_cast<std::chrono::seconds>(duration);
}

struct NodeCertificate::Held {
  std::optional<Pair> pair = {};
  // This node's clock disagrees with the certificate's dates although it was just issued: its age
  // counts then.
  bool is_skewed = false;
  Clock::time_point taken_at = {};
  Time due = {};
  Clock::time_point due_by_age = {};

  Result<std::string> text(std::string Pair::* part) const {
    if (pair) return (*pair).*part;
    return Error(Errc::kUnavailable, "this node has no certificate yet");
  }
};

Result<std::unique_ptr<NodeCertificate>> NodeCertificate::make(
    const aio::asio::any_io_executor& executor, NodeCertificateSettings settings,
    aio::BlockingPool& pool, const Log& log) {
  if (settings.node.empty()) {
    return Error(Errc::kInvalid, "this node's name is unknown: set MULTUS_NODE_NAME");
  }
  if (!is_dns_subdomain(settings.node)) {
    return Error(Errc::kInvalid,
                 cat("MULTUS_NODE_NAME: ", go_quoted(settings.node), " is not the name of a node"));
  }
  auto bootstrap = kube::load_kubeconfig(settings.bootstrap_kubeconfig);
  if (!bootstrap) return std::move(bootstrap).error().wrap("bootstrap kubeconfig");
  return std::unique_ptr<NodeCertificate>(
      new NodeCertificate(executor, std::move(settings), *std::move(bootstrap), pool, log));
}

NodeCertificate::NodeCertificate(const aio::asio::any_io_executor& executor,
                                 NodeCertificateSettings settings, kube::Config bootstrap,
                                 aio::BlockingPool& pool, Log log)
    : settings_(std::move(settings)),
      subject_(subject_of_node(settings_.node)),
      bootstrap_(std::move(bootstrap)),
      log_(std::move(log)),
      pool_(pool),
      store_(settings_.directory),
      held_(std::make_shared<Held>()),
      events_(executor, [](const std::string&, const Error&) {}) {}

NodeCertificate::~NodeCertificate() = default;

aio::Task<void> NodeCertificate::run() {
  auto loaded = co_await load_stored();
  if (!loaded) complain(loaded.error().text());
  for (;;) {
    if (is_due()) {
      MNET_CO_TRY_VOID(co_await obtain());
    }
    MNET_CO_TRY_VOID(co_await aio::sleep_until(next_look()));
    auto looked = co_await look_after_files();
    if (!looked) complain(looked.error().text());
  }
}

bool NodeCertificate::fits(const Pair& pair) const { return pair.subject == subject_; }

bool NodeCertificate::is_usable() const {
  if (!held_->pair) return false;
  const Pair& pair = *held_->pair;
  if (!held_->is_skewed) return settings_.clock->now() < pair.not_after;
  const auto life = pair.not_after - pair.not_before;
  return Clock::now() < held_->taken_at + (life > kBackdated ? life - kBackdated : life / 2);
}

aio::Task<void> NodeCertificate::wait_usable(aio::Deadline deadline) {
  while (!is_usable()) {
    MNET_CO_TRY_VOID(co_await changes_.wait(deadline));
  }
  co_return Result<void>();
}

std::string NodeCertificate::waiting_for() const {
  return is_usable() ? std::string() : cat("the certificate of this node: ", awaited_);
}

std::optional<Time> NodeCertificate::expires() const {
  if (!held_->pair) return std::nullopt;
  return held_->pair->not_after;
}

std::optional<std::chrono::seconds> NodeCertificate::lifetime() const {
  if (!held_->pair) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::seconds>(held_->pair->not_after -
                                                          held_->pair->not_before);
}

Clock::duration NodeCertificate::wanted_for() const {
  return wanted_since_ ? Clock::now() - *wanted_since_ : Clock::duration(0);
}

void NodeCertificate::watch_refusals(std::function<std::uint64_t()> refusals) {
  refusals_ = std::move(refusals);
}

bool NodeCertificate::is_due() {
  const auto age = Clock::now() - held_->taken_at;
  if (held_->pair && age < settings_.shortest) return false;
  if (!is_usable()) return true;
  if (refusals_ && refusals_() != refusals_seen_) {
    refusals_seen_ = refusals_();
    is_refused_ = age >= kTooYoungToRefuse;
  }
  if (is_refused_) return true;
  return held_->is_skewed ? Clock::now() >= held_->due_by_age
                          : settings_.clock->now() >= held_->due;
}

aio::Deadline NodeCertificate::next_look() const {
  aio::Deadline due = held_->due_by_age;
  if (!held_->is_skewed) due = Clock::now() + (held_->due - settings_.clock->now());
  due = std::max(due, held_->taken_at + settings_.shortest);
  return std::min(due, Clock::now() + settings_.look);
}

void NodeCertificate::take(Pair pair, bool is_fresh) {
  const Time now = settings_.clock->now();
  const double random = settings_.random();
  Held& held = *held_;
  held.is_skewed = is_fresh && is_skewed(pair, now);
  held.taken_at = Clock::now();
  held.due = renewal_point(pair, random);
  held.due_by_age = held.taken_at + renewal_age(pair, random);
  if (held.is_skewed) {
    log_.warning(cat("the new certificate is valid from ", rfc3339_utc(pair.not_before), " to ",
                     rfc3339_utc(pair.not_after), ", and this node's clock says ", rfc3339_utc(now),
                     ": using it anyway; set the clock"));
  }
  const auto wait = held.is_skewed ? renewal_age(pair, random) : seconds_until(held.due, now);
  log_.verbose(cat("certificate of ", pair.subject.common_name, " valid until ",
                   rfc3339_utc(pair.not_after), ", to be renewed in ",
                   std::max<std::int64_t>(0, wait.count()), " s"));
  held.pair = std::move(pair);
  is_refused_ = false;
  awaited_ = "its renewal";
  if (on_taken_) on_taken_(held.pair->not_after);
  changes_.notify_all();
}

aio::Task<void> NodeCertificate::load_stored() {
  auto loaded = co_await pool_.run([store = store_]() -> Result<std::optional<Pair>> {
    MNET_TRY_VOID(store.recover());
    return store.load();
  });
  if (!loaded) co_return std::move(loaded).error();
  if (!*loaded) co_return Result<void>();
  Pair& pair = **loaded;
  if (!fits(pair)) {
    co_return Error(Errc::kInvalid,
                    cat(store_.current_path(), " is the certificate of ",
                        go_quoted(pair.subject.common_name), ": requesting another one"));
  }
  if (pair.not_after <= settings_.clock->now()) {
    co_return Error(Errc::kInvalid, cat(store_.current_path(), " expired at ",
                                        rfc3339_utc(pair.not_after), ": requesting another one"));
  }
  take(std::move(pair), false);
  // Loaded, not issued: nothing keeps it from being renewed at once.
  held_->taken_at -= kTooYoungToRefuse + settings_.shortest;
  co_return Result<void>();
}

// Puts back files that were removed or damaged, and takes a newer pair if there is one.
aio::Task<void> NodeCertificate::look_after_files() {
  if (!held_->pair) co_return Result<void>();
  auto loaded = co_await pool_.run([store = store_]() -> Result<std::optional<Pair>> {
    if (!store.has_current()) return std::optional<Pair>();
    return store.load();
  });
  const bool is_there = loaded && *loaded && held_->pair;
  if (is_there && (*loaded)->text() == held_->pair->text()) co_return Result<void>();
  if (is_there && fits(**loaded) && (*loaded)->not_after > held_->pair->not_after) {
    take(**std::move(loaded), false);
    co_return Result<void>();
  }
  auto saved = co_await save();
  if (saved) {
    log_.warning(cat(store_.current_path(), " ",
                     !loaded   ? loaded.error().text()
                     : *loaded ? "holds another certificate"
                               : "is missing",
                     "; storing the current certificate again"));
  }
  co_return saved;
}

aio::Task<void> NodeCertificate::save() {
  auto saved = co_await pool_.run([store = store_, pair = *held_->pair,
                                   now = settings_.clock->now()] { return store.save(pair, now); });
  if (saved) {
    last_complaint_.clear();
    co_return saved;
  }
  co_return std::move(saved).error().wrap("the current certificate cannot be stored");
}

aio::Task<void> NodeCertificate::obtain() {
  wanted_since_ = Clock::now();
  auto ended = co_await ask_until_issued();
  wanted_since_.reset();
  co_return ended;
}

aio::Task<void> NodeCertificate::ask_until_issued() {
  Backoff backoff(settings_.first_pause, settings_.longest_pause, settings_.random);
  Backoff denials(settings_.first_denied, settings_.longest_denied, settings_.random);
  while (is_due()) {
    const std::uint64_t denied_before = denied_;
    auto tried = co_await attempt();
    if (tried || tried.error().code() == Errc::kCancelled) co_return tried;
    const auto pause = denied_ == denied_before ? backoff.next() : denials.next();
    note_failure(tried.error(), pause);
    MNET_CO_TRY_VOID(co_await settings_.timer->sleep_for(pause));
    if (is_usable()) continue;
    auto loaded = co_await load_stored();  // another process may have put one there
    if (!loaded) complain(loaded.error().text());
  }
  co_return Result<void>();
}

aio::Task<void> NodeCertificate::attempt() {
  const bool by_certificate = is_usable();
  auto client = make_client(by_certificate);
  if (!client) co_return std::move(client).error();
  auto asked = co_await ask(*client);
  if (!asked && by_certificate && asked.error().code() == Errc::kDenied) {
    log_.warning(cat("this node's certificate is refused (", asked.error().text(),
                     "): using the bootstrap credentials"));
    client = make_client(false);
    if (!client) co_return std::move(client).error();
    asked = co_await ask(*client);
  }
  if (!asked) co_return std::move(asked).error();
  last_client_ = *client;
  awaited_ =
      cat("the request ", asked->name, " to be approved and signed (`kubectl certificate approve ",
          asked->name, "`, if no cert-approver does it)");
  log_.verbose(cat("requested a certificate: ", asked->name));
  auto pair = co_await wait_issued(
      *client, *std::move(asked), settings_.wait,
      [this, by_certificate](const std::string& awaited) {
        note_wait(awaited);
        // Once the asking certificate has expired, other credentials must ask for the new one.
        return !by_certificate || is_usable();
      },
      log_);
  if (!pair && pair.error().code() == Errc::kDenied) ++denied_;
  if (!pair) co_return std::move(pair).error();
  if (!fits(*pair)) {
    co_return Error(Errc::kProtocol,
                    cat("a certificate of ", go_quoted(pair->subject.common_name), " was issued"));
  }
  ++issued_;
  take(*std::move(pair), true);
  if (refusals_) refusals_seen_ = refusals_();
  if (has_warned_) tell(false, "CertificateIssued", "the certificate of this node was issued");
  has_warned_ = false;
  auto saved = co_await save();
  if (!saved) complain(saved.error().text());  // it is used from memory meanwhile
  co_return Result<void>();
}

aio::Task<Asked> NodeCertificate::ask(std::shared_ptr<kube::Api> api) {
  auto asked = co_await create_request(api, subject_, settings_.duration,
                                       Clock::now() + settings_.create_time);
  if (!asked) co_return std::move(asked).error().wrap(cat("asking ", api->server()));
  co_return asked;
}

Result<std::shared_ptr<kube::Api>> NodeCertificate::make_client(bool by_certificate) const {
  kube::Config config;
  if (by_certificate) {
    config = client_config();
  } else {
    auto bootstrap = kube::load_kubeconfig(settings_.bootstrap_kubeconfig);
    if (!bootstrap) return std::move(bootstrap).error().wrap("bootstrap kubeconfig");
    config = *std::move(bootstrap);
  }
  MNET_TRY(auto&& api, kube::Api::make(std::move(config), settings_.api, log_));
  return std::shared_ptr<kube::Api>(std::move(api));
}

kube::Config NodeCertificate::client_config() const {
  kube::Config config;
  config.server = bootstrap_.server;
  config.is_insecure = bootstrap_.is_insecure;
  config.tls_server_name = bootstrap_.tls_server_name;
  config.proxy_url = bootstrap_.proxy_url;
  if (!bootstrap_.ca.empty()) {
    config.ca.source = [path = settings_.bootstrap_kubeconfig] { return load_authority(path); };
  }
  config.certificate.source = [held = held_] { return held->text(&Pair::certificates); };
  config.key.source = [held = held_] { return held->text(&Pair::key); };
  return config;
}

void NodeCertificate::note_wait(const std::string& awaited) {
  awaited_ = awaited;
  log_.error(cat("still waiting for ", awaited));
  tell(true, "CertificatePending", cat("this node waits for ", awaited));
}

void NodeCertificate::note_failure(const Error& why, std::chrono::milliseconds pause) {
  awaited_ = why.text();
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(pause).count();
  log_.error(cat("no certificate for this node; the next request in ", seconds, " s"), why);
  tell(true, "CertificateNotIssued", why.text());
}

void NodeCertificate::tell(bool is_warning, std::string reason, std::string message) {
  if (is_warning && has_warned_ && Clock::now() - warned_at_ < kBetweenWarnings) return;
  if (is_warning) {
    has_warned_ = true;
    warned_at_ = Clock::now();
  }
  std::shared_ptr<kube::Api> api = last_client_;
  if (!api) {
    auto made = make_client(false);
    if (!made) return;
    api = *std::move(made);
  }
  Happening what{.kind = "Node", .api_version = "v1", .name = settings_.node};
  what.uid = settings_.node;  // as the kubelet's own events have it
  what.is_warning = is_warning;
  what.reason = std::move(reason);
  what.message = std::move(message);
  what.component = settings_.component;
  events_.spawn("event", post_event(std::move(api), std::move(what)));
}

void NodeCertificate::complain(std::string what) {
  if (what == last_complaint_) return;
  log_.error(what);
  last_complaint_ = std::move(what);
}

}  // namespace mnet::certs
