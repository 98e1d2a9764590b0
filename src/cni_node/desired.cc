#include "cni_node/desired.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "cni_node/names.h"
#include "json/at.h"
#include "json/json.h"

namespace mnet::cni_node {
namespace {

void read_list(const json::Object& configmap, std::string_view key, std::optional<Names>& list,
               std::vector<std::string>& errors, Pins* pins = nullptr) {
  const json::Value* value = json::find_at(configmap, {"data", key});
  if (value == nullptr || value->is_null()) {
    list.reset();
    return;
  }
  const std::string* text = value->as_string();
  Pins found;
  auto names = text == nullptr ? Result<Names>(Error(Errc::kInvalid, "not a text"))
                               : parse_names(*text, pins == nullptr ? nullptr : &found);
  if (names) {
    list = *std::move(names);
    if (pins != nullptr) *pins = std::move(found);
  } else {
    errors.push_back(cat(key, ": ", names.error().text()));
  }
}

}  // namespace

DesiredNow desired_of(const json::Object& configmap, const Desired& before) {
  DesiredNow out{.lists = before};
  read_list(configmap, "plugins", out.lists.plugins, out.errors, &out.lists.pins);
  read_list(configmap, "configs", out.lists.configs, out.errors);
  read_list(configmap, "manifests", out.lists.manifests, out.errors);
  return out;
}

}  // namespace mnet::cni_node
