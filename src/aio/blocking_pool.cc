#include "aio/blocking_pool.h"

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "sys/netns.h"

namespace mnet::aio {

struct BlockingPool::State {
  explicit State(std::size_t threads) : most(threads) {}

  const std::size_t most;
  mutable std::mutex mutex;
  std::condition_variable wake;
  std::deque<Job> queue;
  std::list<std::thread> threads;
  std::vector<std::thread> retired;  // ended, or about to: joined at the next start
  std::size_t idle = 0;
  bool stopping = false;

  // These three are called with the lock held.
  bool start_thread();
  void work(std::list<std::thread>::iterator self, std::unique_lock<std::mutex>& lock);
  void retire(std::list<std::thread>::iterator self);
};

bool BlockingPool::State::start_thread() {
  // Blocked before the thread exists, so that no signal can reach it.
  sigset_t every, before;
  ::sigfillset(&every);
  ::pthread_sigmask(SIG_SETMASK, &every, &before);
  const auto self = threads.emplace(threads.end());
  bool started = true;
  try {
    *self = std::thread([this, self] {
      std::unique_lock lock(mutex);
      work(self, lock);
    });
  } catch (const std::system_error&) {  // std::thread reports EAGAIN in no other way
    threads.erase(self);
    started = false;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

void BlockingPool::State::work(std::list<std::thread>::iterator self,
                               std::unique_lock<std::mutex>& lock) {
  while (!stopping) {
    if (queue.empty()) {
      ++idle;
      wake.wait(lock);
      --idle;
      continue;
    }
    Job job = std::move(queue.front());
    queue.pop_front();
    lock.unlock();
    job(true);
    job = nullptr;
    lock.lock();
    if (sys::this_thread_is_astray()) return retire(self);
  }
}

void BlockingPool::State::retire(std::list<std::thread>::iterator self) {
  if (stopping) return;  // the destructor joins it
  retired.push_back(std::move(*self));
  threads.erase(self);
  if (queue.empty() || idle > 0 || start_thread() || !threads.empty()) return;
  // The last thread ends and none can be started: these calls would never be answered.
  for (Job& job : queue) job(false);
  queue.clear();
}

BlockingPool::BlockingPool(std::size_t threads) : state_(std::make_unique<State>(threads)) {}

BlockingPool::~BlockingPool() {
  std::deque<Job> dropped;
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    dropped.swap(state_->queue);
  }
  state_->wake.notify_all();
  for (auto& thread : state_->threads) thread.join();
  for (auto& thread : state_->retired) thread.join();
}

void BlockingPool::submit(Job job) {
  std::vector<std::thread> ended;
  Job refused;
  {
    const std::lock_guard lock(state_->mutex);
    ended.swap(state_->retired);
    const bool want_more = state_->queue.size() >= state_->idle;
    if (want_more && state_->threads.size() < state_->most) state_->start_thread();
    if (state_->threads.empty()) {
      refused = std::move(job);
    } else {
      state_->queue.push_back(std::move(job));
    }
  }
  state_->wake.notify_one();
  for (auto& thread : ended) thread.join();
  if (refused) refused(false);
}

namespace {

// Calls that several threads take from, each the next one that no other has taken.
class Parts {
 public:
  explicit Parts(std::vector<BlockingPool::Part> parts)
      : parts_(std::move(parts)), left_(parts_.size()) {}

  void take() {
    std::unique_lock lock(mutex_);
    while (next_ < parts_.size()) {
      BlockingPool::Part& part = parts_[next_++];
      lock.unlock();
      part();
      lock.lock();
      if (--left_ == 0) ended_.notify_all();
    }
  }
  // A part that is not taken here runs already: no thread waits for one that has not begun.
  void take_and_wait() {
    take();
    std::unique_lock lock(mutex_);
    ended_.wait(lock, [this] { return left_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<BlockingPool::Part> parts_;
  std::size_t next_ = 0, left_;
};

}  // namespace

void BlockingPool::side_by_side(std::vector<Part> parts) {
  const std::size_t helpers = parts.empty() ? 0 : parts.size() - 1;
  const auto shared = std::make_shared<Parts>(std::move(parts));
  for (std::size_t i = 0; i < helpers; ++i) {
    submit([shared](bool has_thread) {
      if (has_thread) shared->take();
    });
  }
  shared->take_and_wait();
}

std::size_t BlockingPool::threads() const {
  const std::lock_guard lock(state_->mutex);
  return state_->threads.size();
}

Error BlockingPool::no_thread_error() {
  return Error(Errc::kUnavailable, "cannot start a thread", EAGAIN);
}

Error BlockingPool::exception_error(const char* what) {
  return Error(Errc::kBug, cat("unexpected exception: ", what));
}

}  // namespace mnet::aio
