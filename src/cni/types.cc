#include "cni/types.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/fields.h"
#include "json/json.h"

namespace mnet::cni {
namespace {

using IsWanted = std::function<bool(std::string_view)>;

// The thin program, what cni-node installs it as (04, 1.1), and the shim.
constexpr std::array<std::string_view, 3> kOwnTypes = {"multus", "multus-cni", "multus-shim"};

// A search for a program joins its name to a directory.
bool is_path(std::string_view type) { return type.contains('/') || type.contains('\0'); }

// Where in a configuration: a member, or an element of a list.
struct Place {
  const Place* outer = nullptr;
  const std::string* key = nullptr;  // none: an element
  std::size_t index = 0;
};

// Made only for a type that was found: keys are foreign text of any length, up to a thousand deep.
std::string path_to(const Place& place) {
  std::vector<const Place*> way;
  for (const Place* one = &place; one != nullptr; one = one->outer) way.push_back(one);
  std::string path;
  for (std::size_t i = way.size(); i-- > 0 && path.size() <= kShown;) {
    if (way[i]->key == nullptr) {
      path += cat("[", way[i]->index, "]");
    } else {
      path += cat(path.empty() ? "" : ".", std::string_view(*way[i]->key).substr(0, kShown + 1));
    }
  }
  return excerpt(path);
}

class TypeSearch {
 public:
  explicit TypeSearch(const IsWanted& is_wanted) : is_wanted_(is_wanted) {}

  std::optional<NamedType> find(const json::Object& object, const Place* outer = nullptr) const {
    for (const auto& [key, member] : object) {
      const Place here{.outer = outer, .key = &key};
      const std::string* text = member.as_string();
      if (text != nullptr && equal_ignoring_case(key, "type") && is_wanted_(*text)) {
        return NamedType{path_to(here), *text};
      }
      if (auto found = find_in(member, here)) return found;
    }
    return std::nullopt;
  }

 private:
  // As deep as json::kMaxDepth.
  std::optional<NamedType> find_in(const json::Value& value, const Place& place) const {
    if (const json::Object* object = value.as_object()) return find(*object, &place);
    const json::Array* list = value.as_array();
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
      if (auto found = find_in((*list)[i], {.outer = &place, .index = i})) return found;
    }
    return std::nullopt;
  }

  const IsWanted& is_wanted_;
};

Result<void> refuse(const std::optional<NamedType>& found) {
  if (!found) return {};
  if (is_path(found->type)) {
    return Error(Errc::kInvalid, cat(found->path, ": invalid plugin name: ", excerpt(found->type)));
  }
  return Error(Errc::kInvalid, cat(found->path, " ", go_quoted(found->type), " is multus itself"));
}

// Keys that say what is run, at every depth: we, libcni and plugins may take different spellings.
constexpr std::array<std::string_view, 4> kRunKeys = {"type", "ipam", "plugins", "capabilities"};
// Keys of the whole configuration that say under which name its result is cached, and in which
// version its plugins are asked.
constexpr std::array<std::string_view, 2> kNameKeys = {"name", "cniVersion"};

// The first of `kRunKeys` that an object in `value` has in two spellings; empty if there is none.
std::string_view find_respelled(const json::Value& value) {
  if (const json::Array* list = value.as_array()) {
    for (const json::Value& item : *list) {
      if (const auto found = find_respelled(item); !found.empty()) return found;
    }
  }
  const json::Object* object = value.as_object();
  if (object == nullptr) return {};
  if (const auto found = json::find_respelled(*object, kRunKeys); !found.empty()) return found;
  for (const json::Member& member : *object) {
    if (const auto found = find_respelled(member.second); !found.empty()) return found;
  }
  return {};
}

Result<void> refuse_respelled(std::string_view key) {
  if (key.empty()) return {};
  return Error(Errc::kInvalid, cat("the key ", go_quoted(key), " is there in two spellings"));
}

// The key's value as the error shows it.
std::string listed(const std::vector<std::string>& allowed) {
  return allowed.empty() ? "which is empty" : excerpt(join(allowed, ", "));
}

// What every plugin takes for the name of a program: its own `type` and that of its IPAM plugin.
json::Object programs_in(const json::Object& config) {
  json::Object programs;
  for (const auto& [key, member] : config) {
    if (equal_ignoring_case(key, "type")) programs.append(key, member);
    if (!equal_ignoring_case(key, "ipam") || member.as_object() == nullptr) continue;
    programs.append(key, programs_in(*member.as_object()));
  }
  return programs;
}

}  // namespace

bool is_own_type(std::string_view type, std::string_view configured) {
  return std::ranges::find(kOwnTypes, type) != kOwnTypes.end() ||
         (!configured.empty() && type == configured);
}

std::optional<NamedType> find_type(const json::Object& config, const IsWanted& is_wanted) {
  return TypeSearch(is_wanted).find(config);
}

Result<void> check_types(const json::Object& config, std::string_view configured) {
  MNET_TRY_VOID(refuse(find_type(config, [configured](std::string_view type) {
    return is_own_type(type, configured) || is_path(type);
  })));
  return refuse_respelled(find_respelled(config));
}

Result<void> check_names(const json::Object& config) {
  return refuse_respelled(json::find_respelled(config, kNameKeys));
}

Result<void> check_types_for_removal(const json::Object& config, std::string_view configured) {
  MNET_TRY_VOID(refuse(find_type(
      config, [configured](std::string_view type) { return is_own_type(type, configured); })));
  return refuse(find_type(programs_in(config), is_path));
}

Result<void> check_allowed_types(const json::Object& config,
                                 const std::vector<std::string>& allowed) {
  const auto found = find_type(config, [&allowed](std::string_view type) {
    return std::ranges::find(allowed, type) == allowed.end();
  });
  if (!found) return {};
  return Error(Errc::kDenied, cat(found->path, " ", go_quoted(found->type),
                                  " is not among allowedPluginTypes (", listed(allowed), ")"));
}

}  // namespace mnet::cni
