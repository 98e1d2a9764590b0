#include "cni/names.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "base/utf8.h"
#include "cni/error.h"

namespace mnet::cni {
namespace {

constexpr std::size_t kMaxIfname = 15;

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

bool has_forbidden_character(std::string_view ifname) {
  while (!ifname.empty()) {
    const CodePoint c = decode_utf8(ifname);
    // An invalid UTF-8 byte is not white space: 0xA0 alone passes.
    if (c.valid && (c.value == '/' || c.value == ':' || is_space(c.value))) return true;
    ifname.remove_prefix(c.bytes);
  }
  return false;
}

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && is_letter_or_digit(text[0]) && std::ranges::all_of(text, [](char c) {
    return is_letter_or_digit(c) || c == '_' || c == '.' || c == '-';
  });
}

Result<void> validate_container_id(std::string_view id) {
  if (id.empty()) return coded(Code::kUnknownContainer, "missing containerID");
  if (is_identifier(id)) return {};
  // Not foreign: the container runtime chose it, and gets it back whole (01, 1.4).
  return coded(Code::kInvalidEnvironment, "invalid characters in containerID", std::string(id));
}

Result<void> validate_network_name(std::string_view name) {
  if (name.empty()) return coded(Code::kInvalidConfig, "missing network name:");
  if (is_identifier(name)) return {};
  return coded(Code::kInvalidConfig, "invalid characters found in network name", excerpt(name));
}

Result<void> validate_ifname(std::string_view ifname) {
  if (ifname.empty()) return coded(Code::kInvalidEnvironment, "interface name is empty");
  if (ifname.size() > kMaxIfname) {
    return coded(Code::kInvalidEnvironment, "interface name is too long",
                 "interface name should be less than 16 characters");
  }
  if (ifname == "." || ifname == "..") {
    return coded(Code::kInvalidEnvironment, "interface name is . or ..");
  }
  // JSON can hold a NUL byte, but an environment variable, and a name for the kernel, ends there.
  if (ifname.contains('\0')) {
    return coded(Code::kInvalidEnvironment, "interface name contains a zero byte");
  }
  if (has_forbidden_character(ifname)) {
    return coded(Code::kInvalidEnvironment,
                 "interface name contains / or : or whitespace characters");
  }
  return {};
}

}  // namespace mnet::cni
