#include "base/try.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/result.h"

namespace mnet {
namespace {

Error refusal() { return {Errc::kNotFound, "no such thing"}; }

Result<std::string> text(bool works) {
  if (!works) return refusal();
  return "text";
}

Result<void> step(bool works) {
  if (!works) return refusal();
  return {};
}

// Counts how often its value was moved to another place.
struct Traveller {
  Traveller() = default;
  Traveller(const Traveller&) = delete;
  Traveller(Traveller&& other) noexcept : moves(other.moves + 1) {}
  Traveller& operator=(const Traveller&) = delete;
  Traveller& operator=(Traveller&&) = delete;
  ~Traveller() = default;

  int moves = 0;
};

Result<Traveller> traveller() { return Result<Traveller>(std::in_place); }

Result<std::size_t> length(bool works) {
  MNET_TRY(const std::string& found, text(works));
  return found.size();
}

TEST(Try, DeclaresTheValue) { EXPECT_EQ(length(true).value(), 4U); }

TEST(Try, ReturnsTheErrorUnchanged) {
  const auto refused = length(false);

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), Errc::kNotFound);
  EXPECT_EQ(refused.error().text(), "no such thing");
}

Result<int> moves_behind_a_reference() {
  MNET_TRY(auto&& held, traveller());
  return held.moves;
}

Result<int> moves_into_a_value() {
  MNET_TRY(const Traveller own, traveller());
  return own.moves;
}

TEST(Try, ReferenceLeavesTheValueWhereItIs) { EXPECT_EQ(moves_behind_a_reference().value(), 0); }

TEST(Try, DeclarationOfAValueMovesItOnce) { EXPECT_EQ(moves_into_a_value().value(), 1); }

Result<std::unique_ptr<int>> move_only() { return std::make_unique<int>(7); }

Result<std::unique_ptr<int>> passed_on() {
  MNET_TRY(auto&& number, move_only());
  *number += 1;
  return number;
}

TEST(Try, ReferencedValueIsMovedOutByReturn) { EXPECT_EQ(**passed_on(), 8); }

Result<std::string> both(bool first, bool second) {
  MNET_TRY(auto&& a, text(first));
  MNET_TRY(const auto& b, text(second));
  a += b;
  return a;
}

TEST(Try, StandsSeveralTimesInOneBlock) {
  EXPECT_EQ(both(true, true).value(), "texttext");
  EXPECT_FALSE(both(false, true).has_value());
  EXPECT_FALSE(both(true, false).has_value());
}

template <typename A, typename B>
Result<std::pair<A, B>> pair_of(A a, B b) {
  return std::pair<A, B>(a, b);
}

Result<int> sum() {
  MNET_TRY(const auto& found, pair_of<int, int>(1, 2));
  return found.first + found.second;
}

TEST(Try, ExpressionMayHoldCommas) { EXPECT_EQ(sum().value(), 3); }

Result<int> steps(bool first, bool second, int& done) {
  MNET_TRY_VOID(step(first));
  ++done;
  if (done == 1) MNET_TRY_VOID(step(second));
  ++done;
  return done;
}

TEST(TryVoid, GoesOnAfterSuccess) {
  int done = 0;
  EXPECT_EQ(steps(true, true, done).value(), 2);
}

TEST(TryVoid, ReturnsTheErrorAtOnce) {
  int done = 0;
  EXPECT_EQ(steps(false, true, done).error().code(), Errc::kNotFound);
  EXPECT_EQ(done, 0);

  EXPECT_EQ(steps(true, false, done).error().code(), Errc::kNotFound);
  EXPECT_EQ(done, 1);
}

}  // namespace
}  // namespace mnet
