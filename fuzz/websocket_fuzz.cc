// Any bytes as frames of a WebSocket, in one piece and byte by byte: the same messages.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kube/exec.h"

namespace {

// False after an error, which ends the connection.
bool take_all(mnet::kube::FrameReader& frames, std::string& seen) {
  for (;;) {
    auto message = frames.next();
    if (!message) return false;
    if (!*message) return true;
    seen += (*message)->payload;
    seen += static_cast<char>((*message)->opcode);
    (void)mnet::kube::parse_exit_status((*message)->payload);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  mnet::kube::FrameReader whole, pieces;
  std::string at_once, bit_by_bit;
  whole.put(bytes);
  (void)take_all(whole, at_once);
  for (const char byte : bytes) {
    pieces.put(std::string_view(&byte, 1));
    if (!take_all(pieces, bit_by_bit)) break;
  }
  if (at_once != bit_by_bit) std::abort();
  return 0;
}
