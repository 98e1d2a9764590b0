#include "model/pod_args.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/address.h"
#include "cni/args.h"
#include "model/networks_annotation.h"
#include "model/selection_element.h"

namespace mnet::model {
namespace {

constexpr std::string_view kIgnoreUnknown = "IgnoreUnknown";
constexpr std::string_view kIp = "IP";
constexpr std::size_t kLongestName = 253;  // of a DNS subdomain

std::string* pod_member(Pod& pod, std::string_view key) {
  if (key == "K8S_POD_NAMESPACE") return &pod.ns;
  if (key == "K8S_POD_NAME") return &pod.name;
  if (key == "K8S_POD_INFRA_CONTAINER_ID") return &pod.infra_container_id;
  if (key == "K8S_POD_UID") return &pod.uid;
  return nullptr;
}

Result<bool> parse_flag(std::string_view text) {
  const std::string lower = to_lower(text);
  if (lower == "1" || lower == "true") return true;
  if (lower == "0" || lower == "false") return false;
  return Error(Errc::kInvalid, cat("boolean unmarshal error: invalid input ", excerpt(lower)));
}

enum class Taken : std::uint8_t { kYes, kUnknown };

Result<Taken> take_pair(const std::string& key, const std::string& value, PodArgs& args) {
  if (std::string* member = pod_member(args.pod, key)) {
    *member = value;
    return Taken::kYes;
  }
  if (key == kIgnoreUnknown) {
    MNET_TRY(auto&& flag, parse_flag(value));
    args.ignore_unknown = flag;
    return Taken::kYes;
  }
  if (key != kIp) return Taken::kUnknown;
  if (value.empty()) return Taken::kYes;
  MNET_TRY(auto&& address, cni::IpAddress::parse(value));
  args.ip = address;
  return Taken::kYes;
}

void set_arg(cni::ArgPairs& args, std::string_view key, std::string value) {
  for (auto& [name, present] : args) {
    if (name != key) continue;
    present = std::move(value);
    return;
  }
  args.emplace_back(key, std::move(value));
}

Result<void> check_ip(const std::string& text) {
  const bool good = text.contains('/') ? cni::Cidr::parse(text).has_value()
                                       : cni::IpAddress::parse(text).has_value();
  if (good) return {};
  return Error(Errc::kInvalid, cat("failed to parse IP address ", go_quoted(text)));
}

}  // namespace

std::string shown_name(std::string_view name) { return excerpt(name, kLongestName); }

Result<PodArgs> read_pod_args(cni::ArgPairs pairs) {
  PodArgs args;
  std::vector<std::string> unknown;
  for (const auto& [key, value] : pairs) {
    auto taken = take_pair(key, value, args);
    if (!taken) {
      const std::string pair = go_quoted(cat(key, "=", value));
      // Neither a boolean nor an address has an equals sign: this is more than one pair.
      if (value.contains('=')) return Error(Errc::kInvalid, cat("ARGS: invalid pair ", pair));
      return std::move(taken).error().wrap(cat("ARGS: error parsing value of pair ", pair));
    }
    if (*taken == Taken::kUnknown) unknown.push_back(cat(key, "=", value));
  }
  if (!unknown.empty() && !args.ignore_unknown) {
    return Error(Errc::kInvalid, cat("ARGS: unknown args ", go_quoted_list(unknown)));
  }
  args.pairs = std::move(pairs);
  return args;
}

PodArgs read_pod_args_leniently(cni::ArgPairs pairs) {
  PodArgs args;
  for (const auto& [key, value] : pairs) (void)take_pair(key, value, args);
  args.pairs = std::move(pairs);
  return args;
}

cni::ArgPairs delegate_args(const Pod& pod, const cni::ArgPairs& request) {
  cni::ArgPairs args = {{std::string(kIgnoreUnknown), "true"},
                        {"K8S_POD_NAMESPACE", pod.ns},
                        {"K8S_POD_NAME", pod.name},
                        {"K8S_POD_INFRA_CONTAINER_ID", pod.infra_container_id},
                        {"K8S_POD_UID", pod.uid}};
  for (const auto& [key, value] : request) {
    const auto present = std::ranges::find(args, key, &std::pair<std::string, std::string>::first);
    if (present == args.end()) {
      args.emplace_back(key, value);
    } else if (present->second.empty()) {
      present->second = value;
    }
  }
  return args;
}

Result<cni::ArgPairs> with_selected_addresses(cni::ArgPairs args,
                                              const NetworkSelectionElement& selection) {
  if (!selection.mac.empty()) {
    if (!is_hardware_address(selection.mac)) {
      return Error(Errc::kInvalid, cat("failed to parse mac address ", go_quoted(selection.mac)));
    }
    set_arg(args, "MAC", selection.mac);
  }
  if (!selection.ips || selection.ips->empty()) return args;
  for (const std::string& ip : *selection.ips) {
    MNET_TRY_VOID(check_ip(ip));
  }
  set_arg(args, kIp, join(*selection.ips, ","));
  return args;
}

}  // namespace mnet::model
