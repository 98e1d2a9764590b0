#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/spelling.h"
#include "base/text.h"
#include "cni/address.h"
#include "cni/names.h"
#include "json/at.h"
#include "json/json.h"
#include "lint/config_rules.h"
#include "lint/finding.h"
#include "lint/objects.h"
#include "lint/rules.h"
#include "lint/text.h"
#include "model/networks_annotation.h"
#include "model/requested_networks.h"
#include "model/selection_element.h"
#include "yaml/places.h"

namespace mnet::lint {
namespace {

using namespace std::string_view_literals;
using model::NetworkSelectionElement;

constexpr std::array kElementKeys = {"name"sv, "namespace"sv, "ips"sv, "mac"sv, "infiniband-guid"sv,
                                     "interface"sv, "deviceID"sv, "interfaceRequest"sv,
                                     "cni-args"sv, "portMappings"sv, "bandwidth"sv,
                                     "default-route"sv, "ipam-claim-reference"sv,
                                     // It has no effect, but the original's own examples have it.
                                     "gateway"sv};
constexpr std::array kPortKeys = {"hostPort"sv, "containerPort"sv, "protocol"sv, "hostIP"sv};
constexpr std::array kBandwidthKeys = {"ingressRate"sv, "ingressBurst"sv, "egressRate"sv,
                                       "egressBurst"sv};
constexpr std::array kProtocols = {"tcp"sv, "udp"sv, "sctp"sv, "udplite"sv, "dccp"sv};
constexpr std::array kAnnotations = {
    "k8s.v1.cni.cncf.io/networks"sv,        "k8s.v1.cni.cncf.io/network-status"sv,
    "k8s.v1.cni.cncf.io/networks-status"sv, "k8s.v1.cni.cncf.io/resourceName"sv,
    "v1.multus-cni.io/default-network"sv,   "v1.multus-cni.io/skip-default-networks"sv};

std::string quoted_key(const NetworkSelectionElement& element) {
  return excerpt(cat(element.ns, "/", element.name));
}

// A comparison of two names takes microseconds, and tenants choose how many names there are.
constexpr std::size_t kMostNames = 500;  // of a namespace, among which a nearest one is looked for
constexpr std::size_t kMostSought = 10;  // names of one pod, for which that is done

// The names of the definitions in a namespace; none if there are very many.
std::vector<std::string_view> names_in(const Known& known, std::string_view ns) {
  std::vector<std::string_view> names;
  const std::string begin = cat(ns, "/");
  for (auto one = known.definitions.lower_bound(begin);
       one != known.definitions.end() && one->first.starts_with(begin); ++one) {
    if (names.size() == kMostNames) return {};
    names.push_back(one->second->object.name);
  }
  return names;
}

// Names that differ in their numbers alone belong to different definitions.
bool is_numbered_alike(std::string_view a, std::string_view b) {
  const auto without_digits = [](std::string_view name) {
    std::string out(name);
    std::erase_if(out, [](char c) { return c >= '0' && c <= '9'; });
    return out;
  };
  return without_digits(a) == without_digits(b);
}

// What to say about a definition that is not among the files; empty: it may be elsewhere. `missing`
// counts those of one object.
std::string missing_text(const Known& known, const std::string& ns, const std::string& name,
                         std::size_t& missing) {
  const std::string key = cat(ns, "/", name);
  if (known.definitions.contains(key)) return {};
  const bool is_sought = ++missing <= kMostSought;
  const auto names = is_sought ? names_in(known, ns) : std::vector<std::string_view>();
  std::string meant = is_numbered_alike(name, nearest(name, names)) ? "" : suggestion(name, names);
  if (meant.empty() && is_sought && known.options.has_all_definitions) {
    for (const auto& [other, definition] : known.definitions) {
      if (definition->object.name != name) continue;
      meant = cat(", but there is ", other);
      break;
    }
  }
  if (meant.empty() && !known.options.has_all_definitions) return {};
  return cat("no definition ", excerpt(key), meant);
}

class PodCheck {
 public:
  PodCheck(const PodTemplate& pod, const Known& known, std::vector<Finding>& out)
      : pod_(pod), known_(known), out_(out) {}

  void run() {
    check_annotation_names();
    check_place();
    const std::string* text = pod_.pod.annotation(model::kNetworksAnnotation);
    const bool has_networks = text != nullptr && !trim(*text).empty();
    if (pod_.is_host_network && has_networks) {
      report(pod_.document.spot(pod_.annotation_pointer(model::kNetworksAnnotation), Part::kKey),
             "MN040", "the pod uses the host's network: no networks are attached to it");
    }
    check_skip();
    check_default_network();
    if (has_networks) check_networks(*text);
  }

 private:
  void report(Spot spot, std::string_view code, std::string text) {
    out_.push_back({std::move(spot), code, pod_.title(), std::move(text)});
  }

  void refuse(const Text& place, const Error& why) {
    report(place.spot_of_error(why.text()), "MN030", place.without_place(why.text()));
  }

  void check_annotation_names() {
    for (const auto& [key, value] : pod_.pod.annotations) {
      if (std::ranges::find(kAnnotations, key) != kAnnotations.end()) continue;
      const std::string_view meant = nearest(key, kAnnotations);
      const bool is_ours =
          key.starts_with("k8s.v1.cni.cncf.io/") || key.starts_with("v1.multus-cni.io/");
      if (meant.empty() || (!is_ours && spelling_distance(key, meant) > 2)) continue;
      report(pod_.document.spot(pod_.annotation_pointer(key), Part::kKey), "MN036",
             cat("unknown annotation ", go_quoted(key), ", did you mean ", go_quoted(meant), "?"));
    }
  }

  // Annotations of a Deployment itself do not reach its pods.
  void check_place() {
    if (pod_.template_pointer.empty()) return;
    const json::Object* object = pod_.document.value().as_object();
    const json::Object* annotations =
        json::as_object(json::find_at(*object, {"metadata", "annotations"}));
    if (annotations == nullptr) return;
    for (const std::string_view key : {model::kNetworksAnnotation, model::kDefaultNetworkAnnotation,
                                       model::kSkipDefaultNetworksAnnotation}) {
      if (annotations->find(key) == nullptr) continue;
      report(pod_.document.spot(cat("/metadata/annotations", yaml::pointer_step(key)), Part::kKey),
             "MN037",
             cat("the annotation is on the ", pod_.kind, ", not on its pods: move it to ",
                 path_text(pod_.template_pointer, false), ".metadata.annotations"));
    }
  }

  void check_skip() {
    const std::string* skip = pod_.pod.annotation(model::kSkipDefaultNetworksAnnotation);
    if (skip == nullptr || *skip == "true" || *skip == "false") return;
    report(pod_.annotation_text(model::kSkipDefaultNetworksAnnotation).spot(), "MN030",
           cat("must be \"true\" or \"false\", not ", go_quoted(*skip)));
  }

  void check_default_network() {
    const std::string* text = pod_.pod.annotation(model::kDefaultNetworkAnnotation);
    if (text == nullptr) return;
    const Text place = pod_.annotation_text(model::kDefaultNetworkAnnotation);
    const auto element =
        model::parse_default_network_annotation(*text, known_.conf.multus_namespace);
    if (!element) return refuse(place, element.error());
    refuse_missing(*element, place.spot());
    // Checked with the default network alone, so that a refusal is about its namespace.
    model::PodObject only = pod_.pod;
    only.annotations.erase(std::string(model::kNetworksAnnotation));
    const auto read = model::read_pod_networks(known_.conf, only);
    if (!read && read.error().code() == Errc::kDenied) {
      report(place.spot(), "MN038", read.error().text());
    }
  }

  void check_networks(const std::string& text) {
    const Text place = pod_.annotation_text(model::kNetworksAnnotation);
    const auto elements = model::parse_networks_annotation(text, pod_.pod.ns);
    if (!elements) return refuse(place, elements.error());
    const auto document = json::parse_unambiguous(text);
    const json::Array* items = document ? document->as_array() : nullptr;
    if (items != nullptr) check_keys(*items, place);
    std::vector<Spot> spots;
    for (std::size_t i = 0; i < elements->size(); ++i) {
      spots.push_back(items != nullptr ? place.spot(cat("/", i)) : spot_of_item(place, i));
      check_element((*elements)[i], spots.back(), items == nullptr ? nullptr : &place, i);
    }
    check_interfaces(*elements, spots);
    check_default_routes(*elements, spots);
  }

  // Of the comma format: the item's first byte.
  static Spot spot_of_item(const Text& place, std::size_t index) {
    std::size_t at = 0;
    for (; index > 0; --index) at = place.text().find(',', at) + 1;
    return place.spot_at(
        std::min(place.text().size(), place.text().find_first_not_of(" \t\n", at)));
  }

  void check_keys(const json::Array& items, const Text& place) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      const json::Object* item = items[i].as_object();
      if (item == nullptr) continue;
      const std::string pointer = cat("/", i);
      check_keys(*item, kElementKeys, pointer, place);
      const auto ports = json::elements_of(item->find_folded("portMappings"));
      for (std::size_t j = 0; j < ports.size(); ++j) {
        if (const json::Object* port = ports[j].as_object()) {
          check_keys(*port, kPortKeys, cat(pointer, "/portMappings/", j), place);
        }
      }
      if (const auto* bandwidth = json::as_object(item->find_folded("bandwidth"))) {
        check_keys(*bandwidth, kBandwidthKeys, cat(pointer, "/bandwidth"), place);
      }
    }
  }

  void check_keys(const json::Object& object, std::span<const std::string_view> known,
                  const std::string& pointer, const Text& place) {
    for (const auto& [key, value] : object) {
      const bool is_known =
          std::ranges::any_of(known, [&key](auto word) { return json::is_spelling_of(key, word); });
      if (is_known) continue;
      report(place.spot(cat(pointer, yaml::pointer_step(key)), Part::kKey), "MN031",
             cat("unknown key ", go_quoted(key), " has no effect", suggestion(key, known)));
    }
  }

  void refuse_missing(const NetworkSelectionElement& element, const Spot& spot) {
    if (element.name.empty())
      return report(spot, "MN032", "the element needs the \"name\" of a definition");
    std::string text = missing_text(known_, element.ns, element.name, missing_);
    if (!text.empty()) {
      report(spot, "MN032", std::move(text));
    }
  }

  void check_element(const NetworkSelectionElement& element, const Spot& spot, const Text* json,
                     std::size_t index) {
    if (!model::may_select(known_.conf, pod_.pod.ns, element.ns)) {
      report(spot, "MN038",
             cat("namespaceIsolation is on: a pod in ", pod_.pod.ns, " cannot select ",
                 quoted_key(element), "; use a definition of ", pod_.pod.ns, ", or name ",
                 excerpt(element.ns), " in globalNamespaces"));
    }
    refuse_missing(element, spot);
    const auto at = [&](std::string_view member) {  // of the element, as a pointer
      return json == nullptr ? spot : json->spot(cat("/", index, "/", member));
    };
    check_fixed(element, at);
    check_ports(element, at);
    check_bandwidth(element, at);
    const auto found = known_.definitions.find(cat(element.ns, "/", element.name));
    if (found == known_.definitions.end()) return;
    check_resource(*found->second, spot);
    if (found->second->parsed) check_capabilities(element, *found->second, at);
  }

  // One address for several pods: the second pod fails, or both are unreachable.
  void check_fixed(const NetworkSelectionElement& element, const auto& at) {
    if (pod_.replicas < 2) return;
    const bool has_ips = element.ips && !element.ips->empty();
    if (!has_ips && element.mac.empty()) return;
    report(at(has_ips ? "ips" : "mac"), "MN041",
           cat("all pods of the ", pod_.kind, " would have the same ",
               has_ips ? "addresses" : "hardware address", ": leave them to IPAM, or run one pod"));
  }

  // As portmap judges them.
  void check_ports(const NetworkSelectionElement& element, const auto& at) {
    constexpr std::int64_t kMost = 65535;
    const auto ports = element.port_mappings.value_or(std::vector<model::PortMapping>());
    for (std::size_t i = 0; i < ports.size(); ++i) {
      const auto refuse = [&](std::string_view key, const std::string& why) {
        report(at(cat("portMappings/", i, "/", key)), "MN042", cat("portMappings[", i, "]: ", why));
      };
      for (const auto& [key, port] : {std::pair("hostPort"sv, ports[i].host_port),
                                      {"containerPort"sv, ports[i].container_port}}) {
        if (port >= 1 && port <= kMost) continue;
        refuse(key, cat(key, " must be a number from 1 to ", kMost, ", not ", port));
      }
      const std::string protocol = to_lower(ports[i].protocol);
      if (protocol.empty() || std::ranges::find(kProtocols, protocol) != kProtocols.end()) continue;
      refuse("protocol", cat("unknown protocol ", go_quoted(ports[i].protocol),
                             suggestion(protocol, kProtocols)));
    }
  }

  // As the plugin bandwidth does.
  void check_bandwidth(const NetworkSelectionElement& element, const auto& at) {
    if (!element.bandwidth) return;
    const model::Bandwidth& asked = *element.bandwidth;
    const auto check = [&](std::string_view way, std::int64_t rate, std::int64_t burst) {
      if (rate >= 0 && burst >= 0 && (rate == 0) == (burst == 0)) return;
      report(at("bandwidth"), "MN042",
             cat("bandwidth: ", way, "Rate and ", way,
                 "Burst must both be greater than 0, or neither be there"));
    };
    check("ingress", asked.ingress_rate, asked.ingress_burst);
    check("egress", asked.egress_rate, asked.egress_burst);
  }

  void check_resource(const Definition& definition, const Spot& spot) {
    const std::string& resource = definition.object.resource_name;
    if (resource.empty() || pod_.has_claims || pod_.resources.contains(resource)) return;
    report(spot, "MN021",
           cat("the network needs a device of ", excerpt(resource),
               ", which no container of the pod requests: add it to resources.requests and limits "
               "(a resource injector may do so)"));
  }

  void check_capabilities(const NetworkSelectionElement& element, const Definition& definition,
                          const auto& at) {
    const auto lacks = [&definition](std::string_view name) {
      for (const PluginPart& plugin : plugins_of(*definition.parsed)) {
        const json::Object* all = json::as_object(plugin.conf.find_folded("capabilities"));
        if (all != nullptr && json::is_true(all->find(name))) return false;
      }
      return true;
    };
    const auto warn = [&](std::string_view key, std::string_view capability) {
      report(at(key), "MN033",
             cat(go_quoted(key), " has no effect: no plugin of ", definition.key(),
                 " has the capability ", capability, "; add \"capabilities\": {\"", capability,
                 "\": true} to the plugin that is to get it"));
    };
    const bool has_ips = element.ips && !element.ips->empty();
    if (has_ips && lacks("ips")) warn("ips", "ips");
    if (has_ips && !lacks("ips")) check_prefixes(*element.ips, definition, at);
    if (element.port_mappings && lacks("portMappings")) warn("portMappings", "portMappings");
    if (element.bandwidth && lacks("bandwidth")) warn("bandwidth", "bandwidth");
    if (!element.infiniband_guid.empty() && lacks("infinibandGUID")) {
      warn("infiniband-guid", "infinibandGUID");
    }
    if (!element.mac.empty() && lacks("mac") && !takes_mac(definition)) warn("mac", "mac");
  }

  // Plugins that read the address from CNI_ARGS or args.cni, and so need no capability; nothing is
  // said about plugins that we do not know.
  static bool takes_mac(const Definition& definition) {
    return !std::ranges::all_of(plugins_of(*definition.parsed), [](const PluginPart& plugin) {
      return plugin.type == "ipvlan" || plugin.type == "ptp" || plugin.type == "vlan" ||
             plugin.type == "portmap" || plugin.type == "bandwidth" || plugin.type == "firewall";
    });
  }

  // The plugin static takes addresses with prefix length only.
  void check_prefixes(const std::vector<std::string>& ips, const Definition& definition,
                      const auto& at) {
    const bool is_static =
        std::ranges::any_of(plugins_of(*definition.parsed), [](const PluginPart& plugin) {
          const json::Object* ipam = json::as_object(plugin.conf.find_folded("ipam"));
          return ipam != nullptr && json::text_of(ipam->find_folded("type")) == "static";
        });
    if (!is_static) return;
    for (const std::string& ip : ips) {
      if (ip.contains('/')) continue;
      report(at("ips"), "MN034",
             cat("ipam \"static\" needs a prefix length, for example ", excerpt(ip), "/",
                 cni::IpAddress::parse(ip).value().is_v4() ? "24" : "64"));
    }
  }

  void check_interfaces(const std::vector<NetworkSelectionElement>& elements,
                        const std::vector<Spot>& spots) {
    std::map<std::string, std::size_t> taken = {{"eth0", elements.size()}};
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const std::string& asked = elements[i].ifname;
      if (!asked.empty()) {
        if (auto valid = cni::validate_ifname(asked); !valid) {
          report(spots[i], "MN035", valid.error().text());
          continue;
        }
      }
      const std::string name = asked.empty() ? cat("net", i + 1) : asked;
      const auto [other, is_new] = taken.emplace(name, i);
      if (is_new) continue;
      const bool is_first = other->second == elements.size();
      report(spots[i], "MN035",
             cat("interface ", excerpt(name), " is taken by ",
                 is_first ? "the pod's first network" : quoted_key(elements[other->second]),
                 "; choose another name"));
    }
  }

  void check_default_routes(const std::vector<NetworkSelectionElement>& elements,
                            const std::vector<Spot>& spots) {
    std::map<bool, std::size_t> owners;  // by family
    for (std::size_t i = 0; i < elements.size(); ++i) {
      std::set<bool> families;
      for (const std::string& gateway : elements[i].gateways.value_or(std::vector<std::string>())) {
        families.insert(cni::IpAddress::parse(gateway).value().is_v4());
      }
      for (const bool is_v4 : families) {
        const auto [owner, is_new] = owners.emplace(is_v4, i);
        if (is_new) continue;
        report(spots[i], "MN039",
               cat(quoted_key(elements[owner->second]), " has a default-route for ",
                   is_v4 ? "IPv4" : "IPv6", ", too; only one of them takes effect"));
      }
    }
  }

  const PodTemplate& pod_;
  const Known& known_;
  std::vector<Finding>& out_;
  std::size_t missing_ = 0;  // definitions
};

}  // namespace

void check_pod(const PodTemplate& pod, const Known& known, std::vector<Finding>& out) {
  PodCheck(pod, known, out).run();
}

void check_machine(const VirtualMachine& machine, const Known& known, std::vector<Finding>& out) {
  std::size_t missing = 0;
  for (const VirtualMachine::Network& network : machine.networks) {
    const Spot spot = machine.document.spot(network.pointer);
    const auto elements = model::parse_networks_annotation(network.name, machine.ns);
    if (!elements || elements->size() != 1) {
      out.push_back({spot, "MN030", machine.title(),
                     elements ? "networkName must name one definition" : elements.error().text()});
      continue;
    }
    const NetworkSelectionElement& element = elements->front();
    if (!model::may_select(known.conf, machine.ns, element.ns)) {
      out.push_back({spot, "MN038", machine.title(),
                     cat("namespaceIsolation is on: a pod in ", machine.ns, " cannot select ",
                         quoted_key(element))});
    }
    std::string text = missing_text(known, element.ns, element.name, missing);
    if (!text.empty()) {
      out.push_back({spot, "MN032", machine.title(), std::move(text)});
    }
  }
}

}  // namespace mnet::lint
