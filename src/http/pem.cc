#include "http/pem.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace mnet::http {
namespace {

constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "\n-----END ", kDashes = "-----";
constexpr auto kNone = std::string_view::npos;

// The first line, without white space at its end; `text` is what follows it.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text = end == kNone ? std::string_view() : text.substr(end + 1);
  if (end != kNone && line.ends_with('\r')) line.remove_suffix(1);
  const std::size_t last = line.find_last_not_of(" \t");
  return last == kNone ? std::string_view() : line.substr(0, last + 1);
}

// The block between the last BEGIN of `before` and the END that `after` follows.
std::optional<std::string> block_between(std::string_view before, std::string_view after,
                                         std::string_view type) {
  const std::size_t begin = before.rfind(kBegin);
  if (begin == kNone || (begin > 0 && before[begin - 1] != '\n')) return std::nullopt;
  std::string_view body = before.substr(begin + kBegin.size());
  const std::string title = cat(type, kDashes);
  if (take_line(body) != title || take_line(after) != title) return std::nullopt;
  std::string digits, bytes;
  for (const char byte : body) {
    if (byte != ' ' && byte != '\t') digits += byte;
  }
  // The colon of a header is not base64, either.
  if (!from_base64(digits, bytes)) return std::nullopt;
  return bytes;
}

}  // namespace

std::vector<std::string> pem_blocks(std::string_view text, std::string_view type) {
  std::vector<std::string> blocks;
  for (;;) {
    const std::size_t end = text.find(kEnd);
    if (end == kNone) return blocks;
    const std::string_view after = text.substr(end + kEnd.size());
    if (auto block = block_between(text.substr(0, end), after, type)) {
      blocks.push_back(*std::move(block));
    }
    text = after;
  }
}

}  // namespace mnet::http
