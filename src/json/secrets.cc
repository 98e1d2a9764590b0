#include "json/secrets.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/text.h"
#include "json/json.h"

namespace mnet::json {
namespace {

constexpr std::string_view kRemoved = "<removed>";

constexpr std::array<std::string_view, 10> kInside = {
    "token",   "password",   "passwd",     "passphrase", "secret",
    "keydata", "credential", "privatekey", "sharedkey",  "authorization"};
constexpr std::array<std::string_view, 5> kAtTheEnd = {"apikey", "accesskey", "authkey",
                                                       "clientkey", "encryptionkey"};
constexpr std::array<std::string_view, 3> kWhole = {"key", "psk", "pass"};
constexpr std::array<std::string_view, 6> kPlaces = {"file", "path", "dir", "name", "ref", "id"};

// Only letters and digits, in lower case, so that all spellings of a name are equal.
std::string plain(std::string_view key) {
  std::string out;
  for (const char c : key) {
    if (c >= 'A' && c <= 'Z') {
      out += static_cast<char>(c - 'A' + 'a');
    } else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
      out += c;
    }
  }
  return out;
}

bool says_nothing(const Value& value) {
  if (value.is_null() || value.as_bool() != nullptr) return true;
  const std::string* text = value.as_string();
  return text != nullptr && text->empty();
}

// Whether it is the contents of a kubeconfig, and not its path.
bool is_kubeconfig(std::string_view key, const Value& value) {
  if (plain(key) != "kubeconfig") return false;
  const std::string* path = value.as_string();
  return path == nullptr || path->find('\n') != std::string::npos || !path->starts_with('/');
}

bool remove_secrets(Value& value) {
  bool removed = false;
  if (Array* list = value.as_array()) {
    for (Value& element : *list) removed |= remove_secrets(element);
  }
  Object* object = value.as_object();
  if (object == nullptr) return removed;
  for (auto& [key, member] : *object) {
    if (says_nothing(member)) continue;
    if (is_secret_name(key) || is_kubeconfig(key, member)) {
      member = Value(kRemoved);
      removed = true;
    } else {
      removed |= remove_secrets(member);
    }
  }
  return removed;
}

}  // namespace

bool is_secret_name(std::string_view key) {
  const std::string name = plain(key);
  const auto ends = [&name](std::string_view end) { return name.ends_with(end); };
  if (std::ranges::find(kWhole, name) != kWhole.end()) return true;
  if (std::ranges::any_of(kPlaces, ends)) return false;
  if (std::ranges::any_of(kAtTheEnd, ends)) return true;
  return std::ranges::any_of(
      kInside, [&name](std::string_view part) { return name.find(part) != std::string::npos; });
}

std::string without_secrets(std::string_view text) {
  auto value = parse(text);
  if (!value) return cat("<", text.size(), " bytes that are not JSON>");
  if (!remove_secrets(*value)) return std::string(text);
  return dump(*value, {.escape_html = false});
}

}  // namespace mnet::json
