#include "devices/proto_stream.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"

namespace mnet::devices {
namespace {

Error broken(std::string_view why, std::uint64_t position) {
  return Error(Errc::kProtocol, cat("not a protobuf message: ", why, " at byte ", position));
}

}  // namespace

Result<void> ProtoStream::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (left() == 0) return broken("too long", position_);
    if (state_ != State::kSkip && state_ != State::kText) {
      const auto byte = static_cast<std::uint8_t>(bytes.front());
      bytes.remove_prefix(1);
      ++position_;
      MNET_TRY_VOID(add_to_number(byte));
      continue;
    }
    const std::size_t count = std::min<std::uint64_t>(rest_, bytes.size());
    if (state_ == State::kText) text_ += bytes.substr(0, count);
    bytes.remove_prefix(count);
    position_ += count;
    rest_ -= count;
    if (rest_ == 0) MNET_TRY_VOID(end_field());
  }
  return {};
}

Result<void> ProtoStream::finish() const {
  if (state_ == State::kTag && shift_ == 0 && depth_ == 0) return {};
  return broken("cut short", position_);
}

Result<void> ProtoStream::add_to_number(std::uint8_t byte) {
  constexpr int kLastShift = 63;
  if (shift_ > kLastShift || (shift_ == kLastShift && byte > 1)) {
    return broken("a number of more than 64 bits", position_);
  }
  number_ |= static_cast<std::uint64_t>(byte & 0x7f) << shift_;
  shift_ += 7;
  if ((byte & 0x80) == 0) return take_number();
  if (left() == 0) return broken("a number runs past its message", position_);
  return {};
}

Result<void> ProtoStream::take_number() {
  const std::uint64_t number = std::exchange(number_, 0);
  shift_ = 0;
  if (state_ == State::kNumber) return end_field();
  if (state_ == State::kLength) return take_length(number);
  const std::uint64_t field = number >> 3;
  if (field == 0 || field >= (1u << 29)) return broken("a field without a number", position_);
  numbers_[depth_] = static_cast<std::uint32_t>(field);
  return begin_field(number & 7);
}

Result<void> ProtoStream::begin_field(std::uint32_t type) {
  switch (type) {
    case 0:
      state_ = State::kNumber;
      break;
    case 1:
      return begin_bytes(8, State::kSkip);
    case 2:
      state_ = State::kLength;
      break;
    case 5:
      return begin_bytes(4, State::kSkip);
    default:
      return broken("a field of an unknown type", position_);
  }
  if (left() == 0) return broken("a field runs past its message", position_);
  return {};
}

Result<void> ProtoStream::begin_bytes(std::uint64_t length, State state) {
  if (length > left()) return broken("a field runs past its message", position_);
  state_ = state;
  rest_ = length;
  return length == 0 ? end_field() : Result<void>();
}

Result<void> ProtoStream::take_length(std::uint64_t length) {
  const FieldUse use = visitor_.use(path());
  if (use == FieldUse::kSkip) return begin_bytes(length, State::kSkip);
  if (use == FieldUse::kText) {
    if (length > kLongestText) return broken("a text of more than 4096 bytes", position_);
    return begin_bytes(length, State::kText);
  }
  if (length > left()) return broken("a message runs past the one around it", position_);
  if (depth_ == kDeepest) return broken("too many messages inside each other", position_);
  ++depth_;
  ends_[depth_] = position_ + length;
  state_ = State::kTag;
  leave_ended();
  return {};
}

Result<void> ProtoStream::end_field() {
  const bool is_text = state_ == State::kText;
  state_ = State::kTag;
  if (is_text) MNET_TRY_VOID(visitor_.text(path(), std::exchange(text_, std::string())));
  leave_ended();
  return {};
}

void ProtoStream::leave_ended() {
  while (depth_ > 0 && left() == 0) {
    --depth_;
    visitor_.end(path());
  }
}

}  // namespace mnet::devices
