// Keeps the client certificate of this node: loads it, asks for one, renews it in time, looks after
// its files (03, 8.1). Nothing that goes wrong ends it: it says what it waits for and goes on.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "aio/blocking_pool.h"
#include "aio/event.h"
#include "aio/group.h"
#include "aio/task.h"
#include "aio/timer.h"
#include "base/backoff.h"
#include "base/clock.h"
#include "base/log.h"
#include "certs/pair_store.h"
#include "certs/request_certificate.h"
#include "certs/x509.h"
#include "kube/kube.h"

namespace mnet::certs {

// `10m` if the text is empty. An error, and why, for what the API server (less than ten minutes) or
// the approver (more than a year) would refuse each time.
Result<std::chrono::seconds> parse_certificate_duration(std::string_view text);

struct NodeCertificateSettings {
  using Pause = std::chrono::milliseconds;

  std::string node = {};
  std::string directory = {};             // of the store
  std::string bootstrap_kubeconfig = {};  // server and credentials for the first request
  std::chrono::seconds duration{600};     // wanted; the signer may give less
  kube::ApiSettings api = {};
  std::string component = "multus";  // of events

  Pause first_pause{2000}, longest_pause{64'000};  // after failures
  // After a denial: the next request will be denied, too, until a person has changed something.
  Pause first_denied{60'000}, longest_denied{1'800'000};
  Pause shortest{2000};  // between an issue and the next request, whatever the dates say
  Pause look{10'000};    // how often clock and files are looked at
  Pause create_time{30'000};
  WaitSettings wait = {};
  Random random = make_random();
  const WallClock* clock = &WallClock::system();
  aio::Timer* timer = &aio::Timer::steady();  // of pauses after failures
};

class NodeCertificate {
 public:
  // kInvalid if a setting is missing or the bootstrap file cannot be read now. Asks for nothing
  // yet. The pool must outlive it, and it its task.
  static Result<std::unique_ptr<NodeCertificate>> make(const aio::asio::any_io_executor& executor,
                                                       NodeCertificateSettings settings,
                                                       aio::BlockingPool& pool, const Log& log);
  ~NodeCertificate();

  // Until cancelled; to be started once, in a group.
  aio::Task<void> run();

  // Whether there is one that a server should accept now.
  bool is_usable() const;
  // Until there is. kTimeout.
  aio::Task<void> wait_usable(aio::Deadline deadline);
  // What is waited for, for people; empty while there is a usable one.
  std::string waiting_for() const;
  // When the certificate in use expires; none if there is none.
  std::optional<Time> expires() const;
  // From its first moment to its last.
  std::optional<std::chrono::seconds> lifetime() const;
  // How long one has been asked for in vain, because there is none or it is due; 0: none is.
  std::chrono::steady_clock::duration wanted_for() const;
  // Certificates that were issued to us since the start.
  std::uint64_t issued() const { return issued_; }
  // Our requests that were denied, or failed, since the start.
  std::uint64_t denied() const { return denied_; }

  // For everything but asking for certificates: the bootstrap file's server and authority (as the
  // file says whenever credentials are read), this certificate, and nothing else of that file. May
  // outlive this; without a certificate its clients fail with kUnavailable.
  kube::Config client_config() const;
  // How often servers have answered 401 to clients of client_config(). When that grows, another
  // certificate is asked for at once.
  void watch_refusals(std::function<std::uint64_t()> refusals);

  // Called with the expiry of each certificate that comes into use.
  void on_taken(std::function<void(Time not_after)> told) { on_taken_ = std::move(told); }

  const PairStore& store() const { return store_; }

 private:
  struct Held;

  NodeCertificate(const aio::asio::any_io_executor& executor, NodeCertificateSettings settings,
                  kube::Config bootstrap, aio::BlockingPool& pool, Log log);

  aio::Task<void> load_stored();
  aio::Task<void> look_after_files();
  aio::Task<void> save();
  aio::Task<void> obtain();
  aio::Task<void> ask_until_issued();
  aio::Task<void> attempt();
  aio::Task<Asked> ask(std::shared_ptr<kube::Api> api);
  Result<std::shared_ptr<kube::Api>> make_client(bool by_certificate) const;

  bool is_due();
  aio::Deadline next_look() const;
  bool fits(const Pair& pair) const;
  void take(Pair pair, bool is_fresh);
  void note_wait(const std::string& awaited);
  void note_failure(const Error& why, std::chrono::milliseconds pause);
  void tell(bool is_warning, std::string reason, std::string message);
  void complain(std::string what);

  const NodeCertificateSettings settings_;
  const Subject subject_;
  const kube::Config bootstrap_;
  const Log log_;
  aio::BlockingPool& pool_;
  const PairStore store_;
  std::shared_ptr<Held> held_;  // shared with the configurations of clients
  std::shared_ptr<kube::Api> last_client_;
  std::function<std::uint64_t()> refusals_;
  std::function<void(Time)> on_taken_;
  std::uint64_t refusals_seen_ = 0;
  std::optional<std::chrono::steady_clock::time_point> wanted_since_;
  bool is_refused_ = false;
  std::uint64_t issued_ = 0, denied_ = 0;
  std::string awaited_ = "its files to be read";
  std::string last_complaint_;
  bool has_warned_ = false;
  std::chrono::steady_clock::time_point warned_at_ = {};
  aio::Notifier changes_;
  aio::Group events_;
};

}  // namespace mnet::certs
