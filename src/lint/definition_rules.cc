#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/spelling.h"
#include "base/text.h"
#include "base/try.h"
#include "json/at.h"
#include "json/json.h"
#include "lint/config_rules.h"
#include "lint/finding.h"
#include "lint/objects.h"
#include "lint/rules.h"
#include "lint/text.h"
#include "model/delegate.h"
#include "model/nad.h"
#include "model/networks_annotation.h"
#include "model/requested_networks.h"
#include "yaml/places.h"

namespace mnet::lint {
namespace {

using namespace std::string_view_literals;

// As an ADD reads it (attach/network_finder.h): the name is added, then the delegate is made.
Result<model::Delegate> delegate_of(const Definition& definition) {
  MNET_TRY(auto&& text, model::configuration_of(definition.object));
  return model::parse_delegate(std::move(text));
}

void check_delegate(const Definition& definition, const Known& known, Reporter& report) {
  const auto delegate = delegate_of(definition);
  if (!delegate) return report.error("MN011", delegate.error().text());
  if (!delegate->list) return report.error("MN011", delegate->list.error().text());
  if (auto types = model::check_types(*delegate, known.conf.type); !types) {
    return report.error("MN013", types.error().text());
  }
  if (auto allowed = model::check_allowed_types(*delegate, known.conf.allowed_plugin_types);
      !allowed) {
    report.error("MN024", allowed.error().text());
  }
}

// A device is taken from the pod's resources, which the definition names (02, 2.3).
void check_resource(const Definition& definition, Reporter& report) {
  if (!definition.object.resource_name.empty()) return;
  for (const PluginPart& plugin : plugins_of(*definition.parsed)) {
    const bool needs_device = plugin.type == "sriov" || plugin.type == "ib-sriov";
    if (!needs_device || plugin.conf.find_folded("deviceID") != nullptr) continue;
    report.value(plugin.pointer, "MN025",
                 cat(plugin.type,
                     " needs a device: name its resource in the annotation "
                     "k8s.v1.cni.cncf.io/resourceName of the definition"));
  }
}

void check_annotation_names(const Definition& definition, std::vector<Finding>& out) {
  constexpr std::array kKnown = {"k8s.v1.cni.cncf.io/resourceName"sv};
  const json::Object* object = definition.document.value().as_object();
  const auto* all = json::as_object(json::find_at(*object, {"metadata", "annotations"}));
  if (all == nullptr) return;
  for (const auto& [key, value] : *all) {
    const std::string meant = key == kKnown.front() ? std::string() : suggestion(key, kKnown);
    if (meant.empty()) continue;
    const std::string pointer = cat("/metadata/annotations", yaml::pointer_step(key));
    out.push_back({definition.document.spot(pointer, Part::kKey), "MN036", definition.key(),
                   cat("unknown annotation ", go_quoted(key), meant)});
  }
}

// Each is compared with those before it. A definition has one or two; an author may write
// thousands.
constexpr std::size_t kMostCompared = 2000;

bool overlap(const AddressRange& a, const AddressRange& b) {
  return a.is_v4 == b.is_v4 && a.link == b.link && a.network != b.network && a.first <= b.last &&
         b.first <= a.last;
}

// host-local keeps addresses by network name: two names on one bridge give the same address twice.
void check_ranges(const Known& known, std::vector<Finding>& out) {
  struct Used {
    const Definition* definition;
    AddressRange range;
  };
  std::vector<Used> all;
  for (const Definition& definition : known.objects.definitions) {
    if (!definition.parsed) continue;
    for (AddressRange& range : ranges_of(*definition.parsed)) {
      if (range.network.empty()) range.network = definition.object.name;
      const auto clash = std::ranges::find_if(
          all, [&range](const Used& used) { return overlap(used.range, range); });
      if (clash != all.end()) {
        Reporter(*definition.config, definition.key(), out)
            .value(range.pointer, "MN016",
                   cat(range.text, " overlaps ", clash->range.text, " of ",
                       clash->definition->key(), " on ", range.link,
                       ": two pods can get the same address; separate the ranges, or give both "
                       "networks the same name"));
      }
      if (all.size() < kMostCompared) all.push_back({&definition, std::move(range)});
    }
  }
}

void check_repeated(const Known& known, std::vector<Finding>& out) {
  std::map<std::string, const Definition*> seen;
  for (const Definition& definition : known.objects.definitions) {
    const auto [first, is_new] = seen.emplace(definition.key(), &definition);
    if (is_new) continue;
    const Spot before = first->second->document.spot("/metadata/name");
    out.push_back({definition.document.spot("/metadata/name"), "MN003", definition.key(),
                   cat("another definition of this name is at ", before.file, ":", before.line,
                       "; only one of them takes effect")});
  }
}

// Definitions that pods of other namespaces select although isolation forbids it.
void check_unreachable(const Known& known, std::vector<Finding>& out) {
  if (!known.conf.namespace_isolation) return;
  std::map<std::string, bool> is_reached;  // by definition that is selected at all
  for (const PodTemplate& pod : known.objects.pods) {
    const std::string* text = pod.pod.annotation(model::kNetworksAnnotation);
    if (text == nullptr) continue;
    const auto elements = model::parse_networks_annotation(*text, pod.pod.ns);
    if (!elements) continue;
    for (const auto& element : *elements) {
      is_reached[cat(element.ns, "/", element.name)] |=
          model::may_select(known.conf, pod.pod.ns, element.ns);
    }
  }
  for (const auto& [key, reached] : is_reached) {
    const auto found = known.definitions.find(key);
    if (reached || found == known.definitions.end()) continue;
    const Definition& definition = *found->second;
    out.push_back({definition.document.spot("/metadata/namespace"), "MN020", key,
                   cat("namespaceIsolation is on, and only pods of other namespaces select this "
                       "definition: move it, or name ",
                       definition.object.ns, " in globalNamespaces")});
  }
}

}  // namespace

void check_definition(const Definition& definition, const Known& known, std::vector<Finding>& out) {
  check_annotation_names(definition, out);
  if (!definition.config) return;
  Reporter report(*definition.config, definition.key(), out);
  if (!definition.parsed) {
    const auto fault = json::parse_unambiguous(definition.config->text());
    return report.error(
        "MN010", fault ? cat("expected an object, got ", fault->kind()) : fault.error().text());
  }
  const std::size_t before = out.size();
  check_delegate(definition, known, report);
  if (out.size() > before && out.back().code == "MN011") return;
  check_config(*definition.parsed, known.options, report);
  check_resource(definition, report);
}

void check_together(const Known& known, std::vector<Finding>& out) {
  check_repeated(known, out);
  check_ranges(known, out);
  check_unreachable(known, out);
}

}  // namespace mnet::lint
