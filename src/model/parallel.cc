#include "model/parallel.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cni/address.h"
#include "cni/conf.h"
#include "json/at.h"
#include "json/json.h"
#include "model/attachment.h"
#include "model/delegate.h"
#include "model/netconf.h"

namespace mnet::model {
namespace {

// Plugins that, within the pod, touch only the interface they were asked for and its own addresses
// and routes. Sorted.
constexpr auto kPlugins = std::to_array<std::string_view>(
    {"bandwidth", "bridge", "cnv-bridge", "cnv-tuning", "dummy",   "firewall", "host-device",
     "ib-sriov",  "ipoib",  "ipvlan",     "loopback",   "macvlan", "ovs",      "passthru",
     "portmap",   "ptp",    "rdma",       "sriov",      "tap",     "tuning",   "vlan"});

// Address managers that lock what they keep, or keep nothing. Sorted; "" means that there is none.
constexpr auto kIpams =
    std::to_array<std::string_view>({"", "dhcp", "host-local", "static", "whereabouts"});

static_assert(std::ranges::is_sorted(kPlugins) && std::ranges::is_sorted(kIpams));

bool keeps_to_itself(const cni::PluginConf& conf) {
  return std::ranges::binary_search(kPlugins, conf.type) &&
         std::ranges::binary_search(kIpams, conf.ipam_type) &&
         !json::is_true(conf.object.find_folded("linkInContainer"));
}

// What only one of several networks can have, or what depends on which has it first.
using Claims = std::set<std::string>;

// `10.1.2.3/16` is the prefix `10.1.0.0/16`; other text claims nothing. whereabouts also writes
// `first-last/length`.
void claim_prefix(std::string_view text, Claims& claims) {
  if (const auto dash = text.find('-'); dash != std::string_view::npos)
    text.remove_prefix(dash + 1);
  auto cidr = cni::Cidr::parse(text);
  if (!cidr) return;
  auto bytes = cidr->address.bytes();
  const int length = cidr->prefix + (cidr->is_v4() ? 96 : 0);
  for (int bit = length; bit < 128; ++bit) {
    bytes[static_cast<std::size_t>(bit / 8)] &= static_cast<std::uint8_t>(~(0x80U >> (bit % 8)));
  }
  claims.insert(cat("prefix ", cni::IpAddress::of_bytes(bytes).text(), "/", cidr->prefix));
}

// Every prefix that is written anywhere in `value`: address managers name theirs differently.
void claim_prefixes(const json::Value& value, Claims& claims) {
  if (const std::string* text = value.as_string()) claim_prefix(*text, claims);
  if (const json::Array* items = value.as_array()) {
    for (const json::Value& item : *items) claim_prefixes(item, claims);
  }
  if (const json::Object* object = value.as_object()) {
    for (const auto& [key, member] : *object) claim_prefixes(member, claims);
  }
}

void claim_sysctls(const json::Object& config, Claims& claims) {
  const json::Object* sysctls = json::as_object(config.find_folded("sysctl"));
  if (sysctls == nullptr) return;
  for (const auto& [key, setting] : *sysctls) {
    // A setting of one interface claims nothing.
    if (!key.contains("IFNAME")) claims.insert(cat("sysctl ", key));
  }
}

void claim_device(const json::Object& config, Claims& claims) {
  const std::string* name = json::as_string(config.find_folded("device"));
  if (name != nullptr) claims.insert(cat("link ", *name));
}

Claims claims_of(const Attachment& attachment) {
  const Delegate& delegate = attachment.delegate;
  Claims claims;
  claims.insert(cat("network ", delegate.cni_name));
  claims.insert(cat("link ", attachment.ifname));
  for (const cni::PluginConf& conf : delegate.list->plugins) {
    for (const std::string_view key : {"ipam", "args"}) {
      if (const json::Value* value = conf.object.find_folded(key)) claim_prefixes(*value, claims);
    }
    if (json::is_true(conf.object.find_folded("isDefaultGateway"))) {
      claims.insert({"prefix 0.0.0.0/0", "prefix ::/0"});
    }
    claim_sysctls(conf.object, claims);
    // It comes into the pod under the name it has on the host.
    if (conf.type == "host-device") claim_device(conf.object, claims);
  }
  for (const std::string& ip : delegate.selection.ips.value_or(std::vector<std::string>())) {
    claim_prefix(ip, claims);
  }
  return claims;
}

bool overlap(const Claims& a, const Claims& b) {
  return std::ranges::any_of(a, [&](const std::string& claim) { return b.contains(claim); });
}

std::vector<Batch> safe_batches(const std::vector<AttachmentPtr>& attachments) {
  std::vector<Batch> batches;
  Claims claimed;        // by the last batch
  bool is_open = false;  // whether the last batch takes more
  for (std::size_t i = 0; i < attachments.size(); ++i) {
    if (i == 0 || !keeps_to_itself(attachments[i]->delegate)) {
      batches.push_back({i, i + 1});
      is_open = false;
      continue;
    }
    Claims claims = claims_of(*attachments[i]);
    if (is_open && !overlap(claims, claimed)) {
      batches.back().end = i + 1;
      claimed.merge(claims);
      continue;
    }
    batches.push_back({i, i + 1});
    claimed = std::move(claims);
    is_open = true;
  }
  return batches;
}

}  // namespace

bool keeps_to_itself(const Delegate& delegate) {
  // The auxiliary chain is made to come after everything else.
  if (!delegate.list || delegate.source == Source::kAuxChain) return false;
  return std::ranges::all_of(delegate.list->plugins,
                             [](const cni::PluginConf& conf) { return keeps_to_itself(conf); });
}

std::vector<Batch> batches_of(const std::vector<AttachmentPtr>& attachments, ParallelAttach mode) {
  const std::size_t count = attachments.size();
  if (mode == ParallelAttach::kSafe && count > 2) return safe_batches(attachments);
  std::vector<Batch> batches;
  if (count > 0) batches.push_back({0, 1});
  if (mode == ParallelAttach::kAll && count > 1) {
    batches.push_back({1, count});
    return batches;
  }
  for (std::size_t i = 1; i < count; ++i) batches.push_back({i, i + 1});
  return batches;
}

}  // namespace mnet::model
