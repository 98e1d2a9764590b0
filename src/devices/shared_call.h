// One call whose answer serves many requests: requests that wait when it begins share it, and those
// that come later share the next one (02, 8.2).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "aio/cancel.h"
#include "aio/event.h"
#include "aio/group.h"
#include "aio/task.h"

namespace mnet::devices {

// `Question` is what the requests want, put together.
template <typename Question, typename Answer>
class SharedCall {
 public:
  using Call = std::function<aio::Task<Answer>(Question)>;

  // The calls run in `group`, which must be joined before this goes.
  SharedCall(aio::Group& group, std::string name, Call call)
      : group_(group), name_(std::move(name)), call_(std::move(call)) {}

  // `add` puts the request's part into the question. The call goes on without the caller. kTimeout
  // at the deadline.
  aio::Task<std::shared_ptr<const Answer>> ask(std::function<void(Question&)> add,
                                               aio::Deadline deadline) {
    if (next_ == nullptr) next_ = std::make_shared<Round>();
    const std::shared_ptr<Round> round = next_;
    add(round->question);
    if (!is_running_ && !group_.spawn(name_, run())) co_return aio::cancelled_error();
    auto ended = co_await round->ended.wait(deadline);
    if (!ended) co_return std::move(ended).error();
    co_return round->outcome;
  }

 private:
  struct Round {
    Question question = {};
    aio::Event ended;
    Result<std::shared_ptr<const Answer>> outcome = {};
  };
  // However a call goes, its waiting requests are woken.
  struct Ending {
    SharedCall& all;
    std::shared_ptr<Round> round;
    ~Ending() {
      all.is_running_ = false;
      if (round != nullptr) round->ended.set();
    }
  };

  aio::Task<void> run() {
    while (next_ != nullptr) {
      is_running_ = true;
      const Ending ending{.all = *this, .round = std::exchange(next_, nullptr)};
      const bool is_cancelled = co_await aio::cancelled();
      if (is_cancelled) {  // those that wait for the next call, too
        ending.round->outcome = aio::cancelled_error();
        continue;
      }
      Result<Answer> answer = co_await call_(std::move(ending.round->question));
      if (answer) {
        ending.round->outcome = std::make_shared<const Answer>(*std::move(answer));
      } else {
        ending.round->outcome = std::move(answer).error();
      }
    }
    co_return Result<void>();  // the waiting requests have the error
  }

  aio::Group& group_;
  const std::string name_;
  const Call call_;
  std::shared_ptr<Round> next_;  // begins when the present call has ended
  bool is_running_ = false;
};

}  // namespace mnet::devices
