#include "http/lookup.h"

#include <netdb.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ip/basic_endpoint.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <csignal>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "aio/event.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"

namespace mnet::http {
namespace {

namespace asio = aio::asio;

// Shared by the waiting task and the thread. The thread does not touch the loop once the task no
// longer waits: the loop may be gone.
class Question {
 public:
  explicit Question(asio::any_io_executor executor) : executor_(std::move(executor)) {}

  aio::Task<void> wait(aio::Deadline deadline) { return answered_.wait(deadline); }
  const Result<Addresses>& answer() const { return *answer_; }

  // From the thread.
  static void put(const std::shared_ptr<Question>& self, Result<Addresses> answer) {
    const std::lock_guard lock(self->mutex_);
    if (!self->is_awaited_) return;
    asio::post(self->executor_, [self, answer = std::move(answer)]() mutable {
      self->answer_ = std::move(answer);
      self->answered_.set();
    });
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    is_awaited_ = false;
    executor_ = {};
  }

 private:
  std::mutex mutex_;
  bool is_awaited_ = true;
  asio::any_io_executor executor_;
  // Used by the loop's thread only.
  std::optional<Result<Addresses>> answer_;
  aio::Event answered_;
};

// Calls forget(), however the waiting task ends.
class Forgetting {
 public:
  explicit Forgetting(Question& question) : question_(question) {}
  ~Forgetting() { question_.forget(); }
  Forgetting(const Forgetting&) = delete;
  Forgetting& operator=(const Forgetting&) = delete;

 private:
  Question& question_;
};

void start(const std::shared_ptr<Question>& question, std::string host, Resolver resolver) {
  // Signals are for the thread of the loop.
  sigset_t every, before;
  ::sigfillset(&every);
  ::pthread_sigmask(SIG_SETMASK, &every, &before);
  try {
    std::thread([question, host = std::move(host), resolver = std::move(resolver)] {
      Question::put(question, resolver(host));
    }).detach();
  } catch (const std::system_error& refused) {
    Question::put(question, Error(Errc::kUnavailable, cat("lookup: ", refused.what())));
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Addresses addresses_in(const addrinfo* list) {
  Addresses out;
  for (; list != nullptr; list = list->ai_next) {
    asio::ip::tcp::endpoint endpoint;
    if (list->ai_addrlen > endpoint.capacity()) continue;
    std::memcpy(endpoint.data(), list->ai_addr, list->ai_addrlen);
    out.push_back(endpoint.address());
  }
  return out;
}

}  // namespace

Result<Addresses> resolve_host(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  if (const int failure = ::getaddrinfo(host.c_str(), nullptr, &hints, &list); failure != 0) {
    return Error(Errc::kUnavailable, cat("lookup ", host, ": ", ::gai_strerror(failure)));
  }
  Addresses out = addresses_in(list);
  ::freeaddrinfo(list);
  return out;
}

aio::Task<Addresses> look_up(std::string host, aio::Deadline deadline, Resolver resolver) {
  boost::system::error_code not_numeric;
  const auto numeric = asio::ip::make_address(host, not_numeric);
  if (!not_numeric) co_return Addresses{numeric};

  const auto executor = co_await asio::this_coro::executor;
  const auto question = std::make_shared<Question>(executor);
  const Forgetting forgetting(*question);
  start(question, host, std::move(resolver));
  auto answered = co_await question->wait(deadline);
  if (!answered) co_return std::move(answered).error().wrap(cat("lookup ", host));
  co_return question->answer();
}

}  // namespace mnet::http
