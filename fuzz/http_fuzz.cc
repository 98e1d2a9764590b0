// A request or a response in pieces of any size: whatever the bytes are, the parser ends in a
// definite state and takes no more than it was offered.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "http/message.h"
#include "http/target.h"

namespace {

constexpr std::uint64_t kMaxBody = 4096;

void require(bool holds) {
  if (!holds) std::abort();
}

// False: refused.
bool offer(mnet::http::Message& message, std::string& unread) {
  if (!message.has_head()) {
    const auto used = message.take_head(unread);
    if (!used) return false;
    require(*used <= unread.size());
    unread.erase(0, *used);
  }
  if (message.has_head()) {
    const auto used = message.take_body(unread, kMaxBody);
    require(message.body().size() <= kMaxBody);
    if (!used) return false;
    require(*used <= unread.size());
    unread.erase(0, *used);
  }
  return true;
}

}  // namespace

// The first byte chooses the kind of message and the size of the pieces.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto kind = static_cast<mnet::http::MessageKind>(data[0] % 3);
  const std::size_t step = data[0] / 3 + 1;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);

  mnet::http::Message message(kind);
  std::string unread;
  while (!bytes.empty() && !message.done()) {
    unread += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
    if (!offer(message, unread)) return 0;
  }
  if (message.has_head()) (void)mnet::http::path_of_target(message.head().target);
  (void)message.take_end();
  return 0;
}
