#include "differences.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text.h"
#include "go_reader.h"
#include "json/json.h"

namespace mnet::readers {
namespace {

using namespace std::string_view_literals;

// A part of what the reader says that makes the difference, for texts of these kinds.
struct OnPurpose {
  std::string_view kinds, part;
};

// We refuse what Go reads; a part of our error.
constexpr std::array kStricter = {
    OnPurpose{"ad", "is repeated"},
    OnPurpose{"ad", "is there in two spellings"},
    OnPurpose{"d", "invalid plugin name"},
    OnPurpose{"d", "is multus itself"},
    OnPurpose{"dn", "a plugin delegate must have the 'type' field"},
    OnPurpose{"dn", "no plugins in list"},
    OnPurpose{"a", "has an empty name"},
    OnPurpose{"a", "did not match comma-delimited format"},
    OnPurpose{"a", "Failed to parse interface name"},
    OnPurpose{"a", "default-route"},
    OnPurpose{"anr", "expected an object, got null"},
    OnPurpose{"nr", "expected an integer, got"},
    // A certificate in the middle of a chain whose issuer has its own name (decision 0046).
    OnPurpose{"s", "self-signed certificate in certificate chain"},
};

// We read what Go refuses; a part of its error.
constexpr std::array kMoreTolerant = {
    OnPurpose{"adn", "of type float64"},
    OnPurpose{"dn", "into Go struct field NetConfList.disable"},
    OnPurpose{"n", "9223372036854776000 into Go struct field Result"},
    OnPurpose{"n", R"(but unmarshalled CNIVersion is "")"},
    OnPurpose{"m", "ControllerNetConf.metricsPort"},
    OnPurpose{"m", "ControllerNetConf.enablePprof"},
};

// The same, if a key of the text is repeated: the value that does not count may be of any type.
constexpr std::array kMoreTolerantOfRepeated = {
    OnPurpose{"d", "cannot unmarshal"},
};

// We read it differently; a part of Go's reading.
constexpr std::array kDifferent = {
    OnPurpose{"nr", R"("\u003cnil\u003e")"},
    OnPurpose{"a", R"([{"name":"","namespace":"ns"}])"},
};

// We read it differently; where, and a part of our reading.
struct Differently {
  char kind;
  std::string_view place, part;
};
constexpr std::array kDifferentAt = {
    // What is not a port, or not an address: there are no metrics.
    Differently{'m', ".metricsPort", ""},
    // null: to us the key is absent, to Go an empty list.
    Differently{'n', ".systemNamespaces", R"("systemNamespaces":["kube-system"])"},
    // [null]: an empty text to us; Go keeps what was in that place before, the default.
    Differently{'n', ".systemNamespaces[]", R"("systemNamespaces":["")"},
};

template <typename List>
bool is_listed(const List& list, char kind, std::string_view said) {
  return std::ranges::any_of(list, [&](const OnPurpose& one) {
    return one.kinds.contains(kind) && said.contains(one.part);
  });
}

// Every number as a double: the original takes numbers of `cni-args` and of delegates for such
// (01, 0.3 rule 7).
json::Value rounded(const json::Value& value) {
  if (const json::Number* number = value.as_number()) {
    std::array<char, 40> text{};
    const auto end = std::to_chars(text.begin(), text.end(), number->as_double()).ptr;
    return json::Number::of_text(std::string(text.begin(), end));
  }
  if (const json::Array* items = value.as_array()) {
    json::Array out;
    for (const json::Value& item : *items) out.push_back(rounded(item));
    return out;
  }
  if (const json::Object* members = value.as_object()) {
    json::Object out;
    for (const auto& [key, member] : *members) out.append(key, rounded(member));
    return out;
  }
  return value;
}

// Where two values differ first: `[0].ips`.
std::string first_difference(const json::Value& a, const json::Value& b, const std::string& path) {
  const json::Object *one = a.as_object(), *other = b.as_object();
  if (one != nullptr && other != nullptr) {
    for (const auto& [key, member] : *one) {
      const json::Value* there = other->find(key);
      if (there == nullptr || *there == member) continue;
      return first_difference(member, *there, cat(path, ".", key));
    }
    for (const json::Object* object : {one, other}) {
      for (const auto& [key, member] : *object) {
        if (one->find(key) == nullptr || other->find(key) == nullptr) return cat(path, ".", key);
      }
    }
  }
  const json::Array *items = a.as_array(), *others = b.as_array();
  if (items == nullptr || others == nullptr || items->size() != others->size()) return path;
  for (std::size_t i = 0; i < items->size(); ++i) {
    if ((*items)[i] == (*others)[i]) continue;
    return first_difference((*items)[i], (*others)[i], cat(path, "[]"));
  }
  return path;
}

}  // namespace

std::optional<std::string> disagreement(char kind, const Result<json::Value>& ours,
                                        const Reading& theirs) {
  if (!ours && theirs.is_refused) return std::nullopt;
  // Go merges what we replace. Administrators and plugins write these kinds; what tenants write is
  // compared.
  if (theirs.repeats_key && "mnr"sv.contains(kind)) return std::nullopt;
  if (!ours) {
    if (kind == 'c' || is_listed(kStricter, kind, ours.error().text())) return std::nullopt;
    return cat("only we refuse it: ", ours.error().text());
  }
  if (theirs.is_refused) {
    if (is_listed(kMoreTolerant, kind, theirs.text)) return std::nullopt;
    if (theirs.repeats_key && is_listed(kMoreTolerantOfRepeated, kind, theirs.text)) {
      return std::nullopt;
    }
    return cat("only Go refuses it: ", theirs.text);
  }
  const std::string reading = json::dump(*ours, json::kSorted);
  if (reading == theirs.text) return std::nullopt;
  const auto parsed = json::parse(theirs.text);
  if (!parsed) return "what Go tells cannot be read";
  if (kind != 'j' && rounded(*parsed) == rounded(*ours)) return std::nullopt;
  if (is_listed(kDifferent, kind, theirs.text)) return std::nullopt;
  const std::string place = first_difference(rounded(*ours), rounded(*parsed), "");
  if (std::ranges::any_of(kDifferentAt, [&](const Differently& one) {
        return one.kind == kind && one.place == place && reading.contains(one.part);
      })) {
    return std::nullopt;
  }
  return cat("they read this differently: ", place);
}

}  // namespace mnet::readers
