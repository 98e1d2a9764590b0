// One HTTP/1.1 response, read from bytes in whatever pieces they come. Knows no sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace mnet::shim {

struct Response {
  int status = 0;
  std::string body;
  bool is_last = true;  // the other side takes no further request on this connection
};

// Understands Content-Length, chunked and read-until-close bodies, skips 1xx responses, and bounds
// what it keeps. After an error nothing more may be fed.
class ResponseReader {
 public:
  static constexpr std::size_t kMaxHead = 64u << 10;
  static constexpr std::size_t kMaxBody = 16u << 20;

  Result<void> feed(std::string_view bytes);
  // The other side closed. An error if that was too early: `EOF` before the first byte,
  // `unexpected EOF` after it.
  Result<void> finish();

  bool is_complete() const { return state_ == State::kDone; }
  // Whether status and headers were read: what fails from here on is inside the answer.
  bool has_head() const { return state_ >= State::kLength; }
  Response take() && { return std::move(response_); }

 private:
  // The order matters to has_head().
  enum class State : std::uint8_t {
    kStatusLine,
    kHeader,
    kLength,
    kUntilClose,
    kChunkSize,
    kChunk,
    kChunkEnd,
    kTrailer,
    kDone,
  };

  bool reads_lines() const;
  Result<void> take_data(std::string_view& bytes);
  Result<void> take_line(std::string_view& bytes);
  Result<void> read_line(std::string_view line);
  Result<void> read_status(std::string_view line);
  Result<void> read_header(std::string_view line);
  Result<void> read_length(std::string_view value);
  Result<void> read_chunk_size(std::string_view line);
  void start_body();

  State state_ = State::kStatusLine;
  Response response_;
  bool started_ = false;
  std::string line_;            // the beginning of a line whose end has not come yet
  std::size_t head_bytes_ = 0;  // of all lines so far
  bool is_1_1_ = false;
  bool says_close_ = false;
  bool chunked_ = false;
  std::optional<std::size_t> length_;
  std::size_t left_ = 0;  // of the body, or of the chunk
};

}  // namespace mnet::shim
