#include "model/networks_annotation.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/address.h"
#include "json/at.h"
#include "json/count.h"
#include "json/fields.h"
#include "json/json.h"
#include "model/selection_element.h"

namespace mnet::model {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kJsonFormat =
    "failed to parse pod Network Attachment Selection Annotation JSON format";

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$
bool is_label(std::string_view text) {
  const auto is_alphanumeric = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  if (text.empty() || !is_alphanumeric(text.front()) || !is_alphanumeric(text.back())) return false;
  return std::ranges::all_of(text, [&](char c) { return c == '-' || is_alphanumeric(c); });
}

Result<void> check_label(std::string_view text) {
  if (is_label(text)) return {};
  return Error(Errc::kInvalid, cat("one or more items did not match comma-delimited format "
                                   "(lower-case letters, digits and '-', a letter or "
                                   "digit at both ends), mismatch @ '",
                                   excerpt(text), "'"));
}

Result<void> check_short_ifname(std::string_view ifname) {
  // White space beyond ASCII, at either end, is not part of the name to the original.
  const auto is_usual = [](char c) {
    return static_cast<unsigned char>(c) < 0x80 && !" \t\n\v\f\r/"sv.contains(c);
  };
  if (ifname.size() <= 15 && std::ranges::all_of(ifname, is_usual)) return {};
  return Error(Errc::kInvalid, cat("Failed to parse interface name: at most 15 bytes of ASCII "
                                   "without white space or '/', got '",
                                   excerpt(ifname), "'"));
}

// [namespace "/"] name ["@" ifname]
Result<NetworkSelectionElement> parse_item(std::string_view item) {
  NetworkSelectionElement element;
  const auto at_slash = split(item, '/');
  if (at_slash.size() > 2) {
    return Error(Errc::kInvalid,
                 cat("invalid network object (failed at '/') in '", excerpt(trim(item)), "'"));
  }
  if (at_slash.size() == 2) element.ns = trim(at_slash[0]);
  const auto at_at = split(at_slash.back(), '@');
  if (at_at.size() > 2) {
    return Error(Errc::kInvalid,
                 cat("invalid network object (failed at '@') in '", excerpt(trim(item)), "'"));
  }
  element.name = trim(at_at[0]);
  if (at_at.size() == 2) element.ifname = trim(at_at[1]);

  if (!element.ns.empty()) {
    MNET_TRY_VOID(check_label(element.ns));
  }
  if (element.name.empty()) {
    return Error(Errc::kInvalid, cat("an item of the comma-delimited list has an empty name: '",
                                     excerpt(trim(item)), "'"));
  }
  MNET_TRY_VOID(check_label(element.name));
  MNET_TRY_VOID(check_short_ifname(element.ifname));
  return element;
}

Result<std::vector<NetworkSelectionElement>> parse_comma_format(std::string_view text) {
  std::vector<NetworkSelectionElement> elements;
  for (const std::string_view item : split(text, ',')) {
    MNET_TRY(auto&& element, parse_item(item));
    elements.push_back(std::move(element));
  }
  return elements;
}

// `[0].ips[1] of network "blue": why`
Error refused(const std::string& path, std::string_view field,
              const NetworkSelectionElement& selection, std::string_view why) {
  return Error(Errc::kInvalid,
               cat(path, ".", field, " of network ", go_quoted(selection.name), ": ", why));
}

Result<void> check_ips(const NetworkSelectionElement& selection, const std::string& path) {
  for (std::size_t i = 0; i < selection.ips->size(); ++i) {
    const std::string& ip = (*selection.ips)[i];
    const bool is_cidr = ip.contains('/');
    if (is_cidr ? cni::Cidr::parse(ip).has_value() : cni::IpAddress::parse(ip).has_value())
      continue;
    return refused(path, cat("ips[", i, "]"), selection,
                   cat("failed to parse ", is_cidr ? "CIDR " : "IP address ", go_quoted(ip)));
  }
  return {};
}

Result<void> check_element(const NetworkSelectionElement& selection, const std::string& path) {
  if (selection.ips) {
    MNET_TRY_VOID(check_ips(selection, path));
  }
  if (!selection.mac.empty() && !is_hardware_address(selection.mac)) {
    return refused(path, "mac", selection,
                   cat("failed to mac: ", go_quoted(selection.mac), " is not a hardware address"));
  }
  const std::string& guid = selection.infiniband_guid;
  if (!guid.empty() && !is_hardware_address(guid)) {
    return refused(
        path, "infiniband-guid", selection,
        cat("failed to validate infiniband GUID: ", go_quoted(guid), " is not a hardware address"));
  }
  return {};
}

// Canonical text: it goes into the scratch file and is compared by family.
Result<std::vector<std::string>> read_gateways(const json::Value& value, const std::string& path) {
  const json::Array* items = value.as_array();
  if (items == nullptr) return json::wrong_kind(path, "a list of addresses", value);
  std::vector<std::string> gateways;
  for (const json::Value& item : *items) {
    const std::string* text = item.as_string();
    if (text == nullptr) return json::wrong_kind(path, "a list of addresses", item);
    auto address = cni::IpAddress::parse(*text);
    if (!address) return std::move(address).error().wrap(path);
    gateways.push_back(address->text());
  }
  return gateways;
}

// Keys that mean something. The original accepts any others in any number of spellings, and so do
// we.
constexpr std::array kElementKeys = {"name"sv,
                                     "namespace"sv,
                                     "ips"sv,
                                     "mac"sv,
                                     "infiniband-guid"sv,
                                     "interface"sv,
                                     "deviceID"sv,
                                     "interfaceRequest"sv,
                                     "cni-args"sv,
                                     "portMappings"sv,
                                     "bandwidth"sv,
                                     "default-route"sv,
                                     "ipam-claim-reference"sv};
constexpr std::array kBandwidthKeys = {"ingressRate"sv, "ingressBurst"sv, "egressRate"sv,
                                       "egressBurst"sv};
constexpr std::array kMappingKeys = {"hostPort"sv, "containerPort"sv, "protocol"sv, "hostIP"sv};

// kInvalid if one of the keys is there in two spellings: a webhook that reads the annotation may
// take another one than we do.
Result<void> check_spellings(const json::Value* value, std::span<const std::string_view> keys,
                             std::string_view path) {
  const json::Object* object = json::as_object(value);
  const auto key = object == nullptr ? ""sv : json::find_respelled(*object, keys);
  if (key.empty()) return {};
  return Error(Errc::kInvalid,
               cat(path, ": the key ", go_quoted(key), " is there in two spellings"));
}

// Members of `cni-args` are exempt: they may be anything.
Result<void> check_inner_spellings(const json::Fields& fields) {
  MNET_TRY_VOID(
      check_spellings(fields.find("bandwidth"), kBandwidthKeys, fields.path_of("bandwidth")));
  const json::Array* mappings = json::as_array(fields.find("portMappings"));
  for (std::size_t i = 0; mappings != nullptr && i < mappings->size(); ++i) {
    MNET_TRY_VOID(check_spellings(&(*mappings)[i], kMappingKeys,
                                  cat(fields.path_of("portMappings"), "[", i, "]")));
  }
  return {};
}

Result<void> read_lists(const json::Fields& fields, NetworkSelectionElement& element) {
  MNET_TRY(auto&& mappings, find_port_mappings(fields, "portMappings"));
  element.port_mappings = std::move(mappings);
  MNET_TRY(const auto& bandwidth, find_bandwidth(fields, "bandwidth"));
  element.bandwidth = bandwidth;
  if (const json::Value* value = fields.find("default-route")) {
    MNET_TRY(auto&& read, read_gateways(*value, fields.path_of("default-route")));
    element.gateways = std::move(read);
  }
  if (const json::Value* value = fields.find("cni-args")) {
    const json::Object* object = value->as_object();
    if (object == nullptr) return json::wrong_kind(fields.path_of("cni-args"), "an object", *value);
    element.cni_args = *object;
  }
  return {};
}

Result<NetworkSelectionElement> read_element(const json::Value& value, const std::string& path) {
  const json::Object* object = value.as_object();
  if (object == nullptr) return json::wrong_kind(path, "an object", value);
  MNET_TRY_VOID(check_spellings(&value, kElementKeys, path));
  NetworkSelectionElement element;
  NetworkSelectionElement& selection = element;
  std::string deprecated_ifname, ipam_claim;
  json::Fields fields(*object, path);
  fields.read("name", element.name);
  fields.read("namespace", element.ns);
  fields.read("ips", selection.ips);
  fields.read("mac", selection.mac);
  fields.read("infiniband-guid", selection.infiniband_guid);
  fields.read("interface", selection.ifname);
  fields.read("interfaceRequest", deprecated_ifname);
  fields.read("deviceID", selection.device_id);
  fields.read("ipam-claim-reference", ipam_claim);
  MNET_TRY_VOID(fields.done());
  MNET_TRY_VOID(check_inner_spellings(fields));
  MNET_TRY_VOID(read_lists(fields, element));
  if (selection.ifname.empty()) selection.ifname = deprecated_ifname;
  return element;
}

bool is_json_format(std::string_view text) {
  return text.find_first_of("[{\"") != std::string_view::npos;
}

Result<std::vector<NetworkSelectionElement>> parse_json_format(std::string_view text) {
  if (const std::size_t count = json::count(text).values; count > kMaxValues) {
    return Error(Errc::kInvalid, cat(kJsonFormat, ": ", count, " values, more than ", kMaxValues));
  }
  auto document = json::parse_unambiguous(text);
  if (!document) return std::move(document).error().wrap(kJsonFormat);
  const json::Array* items = document->as_array();
  if (items == nullptr) {
    return Error(Errc::kInvalid,
                 cat(kJsonFormat, ": expected a list of objects, got ", document->kind()));
  }
  std::vector<NetworkSelectionElement> elements;
  for (std::size_t i = 0; i < items->size(); ++i) {
    const std::string path = cat("[", i, "]");
    auto element = read_element((*items)[i], path);
    if (!element) return std::move(element).error().wrap(kJsonFormat);
    MNET_TRY_VOID(check_element(*element, path));
    elements.push_back(*std::move(element));
  }
  return elements;
}

Result<std::vector<NetworkSelectionElement>> parse_elements(std::string_view text,
                                                            std::string_view default_namespace) {
  if (text.size() > kMaxAnnotation) {
    return Error(Errc::kInvalid,
                 cat("the annotation has ", text.size(), " bytes, more than ", kMaxAnnotation));
  }
  if (const std::size_t count = count_elements(text); count > kMaxNetworks) {
    return Error(Errc::kInvalid,
                 cat("the annotation asks for ", count, " networks, more than ", kMaxNetworks));
  }
  MNET_TRY(auto&& elements,
           is_json_format(text) ? parse_json_format(text) : parse_comma_format(text));
  for (NetworkSelectionElement& element : elements) {
    if (element.ns.empty()) element.ns = default_namespace;
  }
  return elements;
}

}  // namespace

std::size_t count_elements(std::string_view text) {
  if (trim(text).empty()) return 0;
  if (is_json_format(text)) return json::count(text).elements;
  return 1 + static_cast<std::size_t>(std::ranges::count(text, ','));
}

Result<std::vector<NetworkSelectionElement>> parse_networks_annotation(
    std::string_view text, std::string_view pod_namespace) {
  if (trim(text).empty()) return std::vector<NetworkSelectionElement>{};
  return parse_elements(text, pod_namespace);
}

Result<NetworkSelectionElement> parse_default_network_annotation(
    std::string_view text, std::string_view multus_namespace) {
  if (trim(text).empty()) {
    return Error(Errc::kInvalid,
                 "the default-network annotation is empty: it does not have \"network\" as key");
  }
  const Error too_many(Errc::kInvalid, "more than one default network is specified");
  if (count_elements(text) > kMaxNetworks) return too_many;
  MNET_TRY(auto&& elements, parse_elements(text, multus_namespace));
  if (elements.empty())
    return Error(Errc::kInvalid, "the default-network annotation names no network");
  if (elements.size() > 1) return too_many;
  return std::move(elements.front());
}

bool is_hardware_address(std::string_view text) {
  if (text.size() < 14) return false;
  const bool is_dotted = text[4] == '.';
  const char separator = is_dotted ? '.' : text[2];
  if (!is_dotted && separator != ':' && separator != '-') return false;
  const std::size_t digits_per_group = is_dotted ? 4 : 2;
  std::size_t digits = 0;
  for (const std::string_view group : split(text, separator)) {
    if (group.size() != digits_per_group || !std::ranges::all_of(group, is_hex)) return false;
    digits += group.size();
  }
  return digits == 12 || digits == 16 || digits == 40;
}

}  // namespace mnet::model
