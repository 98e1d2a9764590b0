// Talks to one Kubernetes API server: credentials, bounded concurrency, kept connections. Knows
// paths and answers, not what the objects mean.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "aio/timer.h"
#include "base/backoff.h"
#include "base/log.h"
#include "http/http.h"
#include "http/origin_client.h"  // IWYU pragma: export  (what open() gives)
#include "kube/config.h"
#include "kube/credentials.h"
#include "kube/gate.h"
#include "kube/reply.h"
#include "kube/retries.h"

namespace mnet::kube {

struct Call {
  std::string method = "GET";
  std::string path = {};  // with its query, encoded
  std::string body = {};
  std::string content_type = "application/json";
  Priority priority = Priority::kUrgent;
  std::string share = {};  // of its priority (kube/gate.h): the namespace that it is for
  std::size_t max_bytes = 16u << 20;
  // For the exchange itself, from when its turn comes: requests that wait for a slow
  // server must not find their time used up, or each would be sent, given up and sent again.
  std::chrono::milliseconds time{60'000};
};

struct ApiSettings {
  std::string user_agent = {};        // mnet::user_agent() of the program
  std::size_t requests_at_once = 16;  // watches are not counted
  Credentials::Settings credentials = {};
  std::vector<std::string> environment = {};  // proxies and exec plugins
  Random random = make_random();
  aio::Timer* timer = &aio::Timer::steady();  // of pauses between repeats
};

// How many requests had which verb (verb_of) and were answered with which status; 0: not at all.
using RequestCounts = std::map<std::pair<std::string_view, int>, std::uint64_t>;

class Api {
 public:
  // An error if the configuration names no server that can be reached in principle. Nothing is read
  // or asked yet.
  static Result<std::unique_ptr<Api>> make(Config config, ApiSettings settings, Log log);
  // One that knows no server yet: until use() every request fails with kUnavailable.
  Api(ApiSettings settings, Log log);
  // Once; errors as make().
  Result<void> use(Config config);

  // One request, given up at the deadline; any answer of the server is a success. A 401 makes us
  // read our credentials again and, if they differ, ask once more; so does a certificate that we do
  // not trust.
  aio::Task<Reply> call(Call call, aio::Deadline deadline);

  // Repeats what may pass, after pauses that grow, differ and honour Retry-After; ends with the
  // last answer or error.
  aio::Task<Reply> call_patiently(Call call, Retries retries);

  // A GET whose answer is read as it comes; not counted among the requests. A refusal is a success
  // here, too: look at its status.
  aio::Task<std::unique_ptr<http::ResponseStream>> open(std::string path, aio::Deadline deadline,
                                                        http::Headers headers = {});

  // Another number for each change of whom we trust and what certificate we show, as a request that
  // began now would find it. Connections that were opened under another one are outdated.
  aio::Task<std::uint64_t> identity();

  std::uint64_t requests_made() const { return requests_; }
  // Keeps one connection for the next request. A burst leaves several, each of which costs memory
  // here and on the server.
  void close_idle() { client_->close_idle(1); }
  // Requests that have ended. A watch counts once the head of its answer has come.
  const RequestCounts& request_counts() const { return counts_; }
  // When the token in use ends; none if there is none, or if it does not say.
  std::optional<std::chrono::system_clock::time_point> token_end() const {
    if (!credentials_ || !credentials_->token_life()) return std::nullopt;
    return credentials_->token_life()->end;
  }
  // How long it lives in all, if it says so.
  std::optional<std::chrono::seconds> token_lifetime() const {
    const auto end = token_end();
    if (!end || !credentials_->token_life()->begin) return std::nullopt;
    return std::chrono::duration_cast<std::chrono::seconds>(*end -
                                                            *credentials_->token_life()->begin);
  }
  // For a caller that repeats more than one request: the rules, and the time that its pauses take.
  Attempts attempts(const Retries& retries) const;
  aio::Timer& timer() const { return *settings_.timer; }

  // How much later the server's clock is than ours, as of its last answer; none before the first.
  std::optional<std::chrono::seconds> clock_difference() const { return clock_difference_; }

  const Gate& gate() const { return gate_; }
  // Empty before use().
  const std::string& server() const { return server_; }

 private:
  aio::Task<Access> access();
  aio::Task<std::unique_ptr<http::ResponseStream>> attempt(http::ClientRequest request,
                                                           aio::Deadline deadline);
  aio::Task<std::unique_ptr<http::ResponseStream>> send(http::ClientRequest request,
                                                        aio::Deadline deadline);
  aio::Task<Reply> exchange(http::ClientRequest request, std::size_t max_bytes,
                            aio::Deadline deadline);

  const ApiSettings settings_;
  const Log log_;
  std::string server_;
  std::optional<Credentials> credentials_;
  std::optional<http::OriginClient> client_;
  Gate gate_;
  std::uint64_t tls_number_ = 0;
  std::uint64_t requests_ = 0;
  RequestCounts counts_;
  std::optional<std::chrono::seconds> clock_difference_;
};

// What the API calls such a request: get, list, watch, create, update, patch, delete; else `other`.
std::string_view verb_of(std::string_view method, std::string_view target);

// `value` for a query: everything but letters, digits and -._~ as %XX.
std::string query_value(std::string_view value);

}  // namespace mnet::kube
