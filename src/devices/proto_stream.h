// Reads a protobuf message field by field while its bytes arrive, and keeps at most one text of it.
// Knows the wire format, not what the fields mean.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace mnet::devices {

// How to handle a field that has a length.
enum class FieldUse : std::uint8_t {
  kSkip,
  kEnter,  // it is a message: its fields come next
  kText,
};

// The numbers of the fields that lead from the outermost message to a field.
using FieldPath = std::span<const std::uint32_t>;

class ProtoVisitor {
 public:
  virtual ~ProtoVisitor() = default;
  // Asked for each field that has a length; numbers are skipped.
  virtual FieldUse use(FieldPath path) = 0;
  // An error ends the reading.
  virtual Result<void> text(FieldPath path, std::string text) = 0;
  // The message that was entered is over.
  virtual void end(FieldPath path) = 0;
};

class ProtoStream {
 public:
  static constexpr std::size_t kDeepest = 6;         // messages inside each other
  static constexpr std::size_t kLongestText = 4096;  // of those that are not skipped
  static constexpr std::uint64_t kLargest = 128u << 20;

  // The visitor must outlive it.
  explicit ProtoStream(ProtoVisitor& visitor) : visitor_(visitor) {}

  // After an error no more bytes may be fed. kProtocol: the bytes are not a message.
  Result<void> feed(std::string_view bytes);
  // kProtocol if the message is cut short.
  Result<void> finish() const;

 private:
  enum class State : std::uint8_t { kTag, kNumber, kLength, kSkip, kText };

  Result<void> add_to_number(std::uint8_t byte);
  Result<void> take_number();
  Result<void> begin_field(std::uint32_t type);
  Result<void> begin_bytes(std::uint64_t length, State state);
  Result<void> take_length(std::uint64_t length);
  Result<void> end_field();
  void leave_ended();
  // How many bytes are left of the message that contains the present position.
  std::uint64_t left() const { return ends_[depth_] - position_; }
  FieldPath path() const { return FieldPath(numbers_).first(depth_ + 1); }

  ProtoVisitor& visitor_;
  State state_ = State::kTag;
  std::uint64_t number_ = 0;  // as far as it was read
  int shift_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t rest_ = 0;  // of what is skipped, or of the text
  std::string text_;
  std::size_t depth_ = 0;
  std::array<std::uint32_t, kDeepest + 1> numbers_{};       // of the present field at each depth
  std::array<std::uint64_t, kDeepest + 1> ends_{kLargest};  // of the message at each depth
};

}  // namespace mnet::devices
