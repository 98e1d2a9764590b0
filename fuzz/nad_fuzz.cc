// Any bytes as a definition's text and, after the first NUL, an element of an annotation: a
// delegate made from them has its name, runs what it stores, and differs from the text only where
// something was injected. One that passes the check of types names neither Multus nor a path.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "cni/types.h"
#include "json/json.h"
#include "model/delegate.h"
#include "model/nad.h"
#include "model/networks_annotation.h"
#include "model/objects.h"
#include "model/selection_element.h"

namespace {

using mnet::model::Delegate;

bool runs_what_it_stores(const Delegate& delegate) {
  if (!delegate.list) return true;
  const auto stored = mnet::json::parse(delegate.bytes);
  if (!stored) return false;
  const mnet::json::Value run = delegate.is_list
                                    ? mnet::json::Value(delegate.list->object)
                                    : mnet::json::Value(delegate.list->plugins.front().object);
  return *stored == run;
}

bool names_plugins_only(const Delegate& delegate) {
  const auto is_bad = [](const std::string& type) {
    return mnet::cni::is_own_type(type, "ours") || type.contains('/');
  };
  for (const auto& plugin : delegate.list->plugins) {
    if (is_bad(plugin.type) || is_bad(plugin.ipam_type)) return false;
  }
  return true;
}

std::optional<mnet::model::NetworkSelectionElement> selection_of(std::string_view text) {
  auto elements = mnet::model::parse_networks_annotation(text, "ns");
  if (!elements || elements->empty()) return std::nullopt;
  return elements->front();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\0');
  mnet::model::NetworkDefinition definition;
  definition.ns = "ns";
  definition.name = "nad";
  definition.config = input.substr(0, end);
  if (!mnet::model::has_configuration(definition)) return 0;
  auto text = mnet::model::configuration_of(definition);
  if (!text) return 0;
  const auto delegate = mnet::model::parse_delegate(*text);
  if (!delegate) return 0;
  if (delegate->cni_name.empty() || !runs_what_it_stores(*delegate)) std::abort();
  if (delegate->list && mnet::model::check_types(*delegate, "ours") &&
      !names_plugins_only(*delegate)) {
    std::abort();
  }

  const auto selection =
      selection_of(end == std::string_view::npos ? std::string_view() : input.substr(end + 1));
  const auto plain = mnet::model::fulfil(*delegate, selection, {});
  if (plain && (!selection || !selection->cni_args) && plain->bytes != *text) std::abort();
  const auto with_device =
      mnet::model::fulfil(*delegate, selection, {.resource_name = "r", .id = "0000:00:00.1"});
  for (const auto* done : {&plain, &with_device}) {
    if (*done && !runs_what_it_stores(**done)) std::abort();
  }
  return 0;
}
