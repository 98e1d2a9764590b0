// Parses one HTTP/1 message, request or response, from bytes as they arrive. Beast's parser is
// inside; knows nothing of sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "http/http.h"

namespace mnet::http {

struct Head {
  std::string method, target;  // of a request
  int status = 0;              // of a response
  bool is_1_1 = true;
  Headers headers;
  std::optional<std::uint64_t> content_length;
  bool is_chunked = false;
};

enum class MessageKind : std::uint8_t {
  kRequest,
  kResponse,
  kResponseToHead,  // has no body, whatever its headers say
};

class Message {
 public:
  explicit Message(MessageKind kind);
  ~Message();

  // Both take what they can from the front of `bytes` and return how many bytes they took; offer
  // the rest again, followed by more. kInvalid: not HTTP.
  Result<std::size_t> take_head(std::string_view bytes);
  // Appends to body(). kDenied: the body would be larger than `max_bytes`.
  Result<std::size_t> take_body(std::string_view bytes, std::uint64_t max_bytes);
  // The sender has closed the connection: success for a response whose body ends there, otherwise
  // kProtocol.
  Result<void> take_end();

  bool has_head() const;
  bool done() const;
  const Head& head() const;
  std::string& body();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mnet::http
