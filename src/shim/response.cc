#include "shim/response.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/integer.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"

namespace mnet::shim {
namespace {

Error malformed(std::string_view what, std::string_view text) {
  return Error(Errc::kProtocol, cat("malformed HTTP ", what, " ", go_quoted(text)));
}

}  // namespace

bool ResponseReader::reads_lines() const {
  return state_ != State::kLength && state_ != State::kUntilClose && state_ != State::kChunk;
}

Result<void> ResponseReader::feed(std::string_view bytes) {
  if (!bytes.empty()) started_ = true;
  while (!bytes.empty() && state_ != State::kDone) {
    MNET_TRY_VOID(reads_lines() ? take_line(bytes) : take_data(bytes));
  }
  if (!bytes.empty()) response_.is_last = true;  // more than it should have sent
  return {};
}

Result<void> ResponseReader::finish() {
  if (state_ == State::kDone) return {};
  if (state_ == State::kUntilClose) {
    state_ = State::kDone;
    return {};
  }
  return Error(Errc::kUnavailable, started_ ? "unexpected EOF" : "EOF");
}

Result<void> ResponseReader::take_data(std::string_view& bytes) {
  const bool bounded = state_ != State::kUntilClose;
  const std::size_t count = bounded ? std::min(left_, bytes.size()) : bytes.size();
  if (response_.body.size() + count > kMaxBody) {
    return Error(Errc::kProtocol, cat("HTTP response body larger than ", kMaxBody, " bytes"));
  }
  response_.body += bytes.substr(0, count);
  bytes.remove_prefix(count);
  if (!bounded) return {};
  left_ -= count;
  if (left_ == 0) state_ = state_ == State::kChunk ? State::kChunkEnd : State::kDone;
  return {};
}

Result<void> ResponseReader::take_line(std::string_view& bytes) {
  const std::size_t end = bytes.find('\n');
  const std::size_t count = end == std::string_view::npos ? bytes.size() : end + 1;
  // Lines between chunks are not counted: each brings some of the body, which is bounded.
  head_bytes_ += state_ == State::kChunkSize || state_ == State::kChunkEnd ? 0 : count;
  if (head_bytes_ > kMaxHead || line_.size() + count > kMaxHead) {
    return Error(Errc::kProtocol, cat("HTTP response head larger than ", kMaxHead, " bytes"));
  }
  line_ += bytes.substr(0, count);
  bytes.remove_prefix(count);
  if (end == std::string_view::npos) return {};

  std::string line;
  line.swap(line_);
  line.pop_back();
  if (line.ends_with('\r')) line.pop_back();
  return read_line(line);
}

Result<void> ResponseReader::read_line(std::string_view line) {
  switch (state_) {
    case State::kStatusLine:
      return read_status(line);
    case State::kHeader:
      if (!line.empty()) return read_header(line);
      start_body();
      return {};
    case State::kChunkSize:
      return read_chunk_size(line);
    case State::kChunkEnd:
      if (!line.empty()) return malformed("chunk", line);
      state_ = State::kChunkSize;
      return {};
    default:  // a trailer, which says nothing that we need
      if (line.empty()) state_ = State::kDone;
      return {};
  }
}

Result<void> ResponseReader::read_status(std::string_view line) {
  // HTTP/1.1 200 OK; the words after the number may be missing.
  const std::string_view version = line.substr(0, 9);
  const auto status =
      line.size() < 12 ? std::nullopt : parse_integer<std::size_t>(line.substr(9, 3));
  const bool ends_there = line.size() == 12 || (line.size() > 12 && line[12] == ' ');
  if ((version != "HTTP/1.1 " && version != "HTTP/1.0 ") || !status || *status < 100 ||
      !ends_there) {
    return malformed("response", line.substr(0, 200));
  }
  response_.status = static_cast<int>(*status);
  is_1_1_ = version == "HTTP/1.1 ";
  says_close_ = false;
  chunked_ = false;
  length_.reset();
  state_ = State::kHeader;
  return {};
}

Result<void> ResponseReader::read_header(std::string_view line) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || colon == 0) {
    return malformed("header", line.substr(0, 200));
  }
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trim(line.substr(colon + 1));
  if (equal_ignoring_case(name, "Content-Length")) return read_length(value);
  if (equal_ignoring_case(name, "Connection")) says_close_ = equal_ignoring_case(value, "close");
  if (equal_ignoring_case(name, "Transfer-Encoding")) {
    if (!equal_ignoring_case(value, "chunked")) return malformed("transfer encoding", value);
    chunked_ = true;
  }
  return {};
}

Result<void> ResponseReader::read_length(std::string_view value) {
  const auto length = parse_integer<std::size_t>(value);
  if (!length || (length_ && *length_ != *length)) return malformed("content length", value);
  length_ = length;
  return {};
}

Result<void> ResponseReader::read_chunk_size(std::string_view line) {
  const auto size = parse_integer<std::size_t>(trim(line.substr(0, line.find(';'))), 16);
  if (!size) return malformed("chunk size", line.substr(0, 200));
  left_ = *size;
  state_ = left_ == 0 ? State::kTrailer : State::kChunk;
  return {};
}

void ResponseReader::start_body() {
  response_.is_last = !is_1_1_ || says_close_ || !(chunked_ || length_);
  if (response_.status < 200) {
    state_ = State::kStatusLine;  // the real answer follows
  } else if (response_.status == 204 || response_.status == 304) {
    state_ = State::kDone;
  } else if (chunked_) {
    state_ = State::kChunkSize;
  } else if (length_) {
    left_ = *length_;
    state_ = left_ == 0 ? State::kDone : State::kLength;
  } else {
    state_ = State::kUntilClose;
  }
}

}  // namespace mnet::shim
