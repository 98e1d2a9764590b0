#include "multusctl/hands/annotation_edit.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dns_name.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "model/networks_annotation.h"
#include "model/selection_element.h"

namespace mnet::multusctl {
namespace {

using model::NetworkSelectionElement;

bool is_json(std::string_view annotation) { return trim(annotation).starts_with('['); }

// As ADD numbers those that choose none.
std::string name_of(const std::vector<NetworkSelectionElement>& elements, std::size_t index) {
  return elements[index].ifname.empty() ? cat("net", index + 1) : elements[index].ifname;
}

std::string short_form(const NetworkChoice& network) {
  return cat(network.key(), network.ifname.empty() ? "" : "@", network.ifname);
}

// The list without its element of that index.
Result<std::string> cut(std::string_view annotation, std::size_t index) {
  const auto offset = static_cast<std::ptrdiff_t>(index);
  if (is_json(annotation)) {
    MNET_TRY(auto&& document, json::parse(annotation));
    json::Array* list = document.as_array();
    list->erase(list->begin() + offset);
    return json::dump(document, {.escape_html = false});
  }
  std::vector<std::string> parts;
  for (const std::string_view part : split(annotation, ',')) parts.emplace_back(part);
  parts.erase(parts.begin() + offset);
  return join(parts, ",");
}

}  // namespace

Result<NetworkChoice> parse_choice(std::string_view text, const std::string& pod_ns) {
  const auto parts = split(text, '/');
  NetworkChoice out{.ns = parts.size() > 1 ? std::string(parts[0]) : pod_ns,
                    .name = std::string(parts.back())};
  if (parts.size() > 2 || !is_dns_label(out.ns) || !is_dns_subdomain(out.name)) {
    return Error(Errc::kInvalid, cat(go_quoted(text), " is not NAMESPACE/NAME of a network"));
  }
  return out;
}

std::string free_ifname(std::string_view annotation, const std::string& pod_ns,
                        const std::set<std::string>& taken) {
  std::set<std::string> used = taken;
  const auto elements = model::parse_networks_annotation(annotation, pod_ns);
  for (std::size_t i = 0; elements && i < elements->size(); ++i) used.insert(name_of(*elements, i));
  for (std::size_t number = 1;; ++number) {
    std::string name = cat("net", number);
    if (!used.contains(name)) return name;
  }
}

Result<std::string> with_network(std::string_view annotation, const std::string& pod_ns,
                                 const NetworkChoice& network) {
  MNET_TRY(const auto& elements, model::parse_networks_annotation(annotation, pod_ns));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (name_of(elements, i) != network.ifname) continue;
    return Error(Errc::kConflict, cat("the annotation already has interface ", network.ifname,
                                      ", for network ", elements[i].ns, "/", elements[i].name));
  }
  if (is_json(annotation)) {
    MNET_TRY(auto&& document, json::parse(annotation));
    document.as_array()->push_back(json::Object{
        {"name", network.name}, {"namespace", network.ns}, {"interface", network.ifname}});
    return json::dump(document, {.escape_html = false});
  }
  const std::string_view before = trim(annotation);
  return cat(before, before.empty() ? "" : ",", short_form(network));
}

Result<Without> without_network(std::string_view annotation, const std::string& pod_ns,
                                const NetworkChoice& network) {
  MNET_TRY(const auto& elements, model::parse_networks_annotation(annotation, pod_ns));
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const bool is_it = elements[i].ns == network.ns && elements[i].name == network.name &&
                       (network.ifname.empty() || name_of(elements, i) == network.ifname);
    if (!is_it) continue;
    if (found) {
      return Error(Errc::kConflict,
                   cat("the pod has network ", network.key(), " as ", name_of(elements, *found),
                       " and as ", name_of(elements, i), ": say which one with --interface"));
    }
    found = i;
  }
  if (!found) {
    return Error(Errc::kNotFound, cat("the pod's annotation does not name ", short_form(network)));
  }
  MNET_TRY(auto&& rest, cut(annotation, *found));
  return Without{.annotation = std::move(rest), .ifname = name_of(elements, *found)};
}

}  // namespace mnet::multusctl
