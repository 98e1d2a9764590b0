#include "http/lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "aio/group.h"
#include "aio/run.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/try.h"

namespace mnet::http {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

boost::asio::ip::address address(const char* text) { return boost::asio::ip::make_address(text); }

aio::Deadline soon() { return Clock::now() + 20s; }

// A name server that answers only when the test lets it.
class Stuck {
 public:
  Resolver resolver() {
    return [gate = gate_, asked = asked_](const std::string&) -> Result<Addresses> {
      asked->store(true);
      gate.wait();
      return Addresses{};
    };
  }
  bool is_asked() const { return *asked_; }
  void go_on() { promise_.set_value(); }

 private:
  std::promise<void> promise_;
  std::shared_future<void> gate_ = promise_.get_future().share();
  std::shared_ptr<std::atomic<bool>> asked_ = std::make_shared<std::atomic<bool>>(false);
};

TEST(Lookup, TakesNumericAddressesAsTheyAre) {
  aio::asio::io_context loop;
  const auto never = [](const std::string&) -> Result<Addresses> {
    return Error(Errc::kBug, "asked");
  };

  const auto four = aio::run(loop, look_up("192.0.2.1", soon(), never));
  const auto six = aio::run(loop, look_up("2001:db8::1", soon(), never));

  ASSERT_TRUE(four.has_value() && six.has_value());
  EXPECT_EQ(*four, Addresses{address("192.0.2.1")});
  EXPECT_EQ(*six, Addresses{address("2001:db8::1")});
}

TEST(Lookup, FindsLocalhost) {
  aio::asio::io_context loop;

  const auto found = aio::run(loop, look_up("localhost", soon()));

  ASSERT_TRUE(found.has_value()) << found.error().text();
  EXPECT_THAT(*found, testing::Contains(address("127.0.0.1")));
}

TEST(Lookup, IsAnErrorForANameThatCannotExist) {
  aio::asio::io_context loop;

  const auto found = aio::run(loop, look_up("no such name", soon()));

  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code(), Errc::kUnavailable);
  EXPECT_TRUE(found.error().text().starts_with("lookup no such name: ")) << found.error().text();
}

TEST(Lookup, IsNotWaitedForBeyondItsDeadline) {
  Stuck stuck;
  {
    aio::asio::io_context loop;  // gone before the name server answers

    const auto found = aio::run(loop, look_up("stuck", Clock::now() + 20ms, stuck.resolver()));

    ASSERT_FALSE(found.has_value());
    EXPECT_EQ(found.error().code(), Errc::kTimeout);
  }
  stuck.go_on();
}

aio::Task<void> ask(Resolver resolver) {
  MNET_CO_TRY([[maybe_unused]] const auto& found,
              co_await look_up("stuck", aio::kNoDeadline, std::move(resolver)));
  co_return Result<void>();
}

TEST(Lookup, EndsWhenItIsCancelled) {
  Stuck stuck;
  {
    aio::asio::io_context loop;
    aio::Group group(loop.get_executor(), Log());
    group.spawn("look-up", ask(stuck.resolver()));
    while (!stuck.is_asked()) loop.run_one_for(1ms);

    group.cancel();

    EXPECT_TRUE(aio::run(loop, group.join()).has_value());
  }
  stuck.go_on();
}

}  // namespace
}  // namespace mnet::http
