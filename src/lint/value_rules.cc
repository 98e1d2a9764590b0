// What the programs of the CNI project (v1.9.1) refuse at ADD, and those of SR-IOV.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cni/names.h"
#include "json/at.h"
#include "json/json.h"
#include "lint/config_rules.h"
#include "lint/plugins.h"
#include "model/networks_annotation.h"

namespace mnet::lint {
namespace {

using namespace std::string_view_literals;

enum class Form : std::uint8_t {
  kSwitch,
  kNumber,
  kChoice,
  kText,
  kNewLink,  // the name of an interface that the plugin creates
  kMac,
};

struct Rule {
  std::string_view type, key;
  Form form;
  std::int64_t most = 0;                           // of a number; the least one is 0
  std::span<const std::string_view> choices = {};  // `kChoice`; no text at all is one, too
};

constexpr std::int64_t kMostVlan = 4094, kMostUnsigned = std::numeric_limits<std::uint32_t>::max(),
                       kMostSigned = std::numeric_limits<std::int32_t>::max(),
                       kMostRate = std::numeric_limits<std::int64_t>::max(),
                       kMostBurst = 8 * kMostUnsigned - 1;
constexpr std::array kMacvlanModes = {"bridge"sv, "private"sv, "vepa"sv, "passthru"sv};
constexpr std::array kIpvlanModes = {"l2"sv, "l3"sv, "l3s"sv};
constexpr std::array kBackends = {"iptables"sv, "nftables"sv};
constexpr std::array kPolicies = {"open"sv, "same-bridge"sv, "isolated"sv};
constexpr std::array kLinkStates = {"auto"sv, "enable"sv, "disable"sv};
constexpr std::array kOnOff = {"on"sv, "off"sv};

// An interface that the node has may have a longer name beside its own: it is only a text.
constexpr auto kRules = std::to_array<Rule>({
    {"bridge", "bridge", Form::kNewLink},
    {"bridge", "isGateway", Form::kSwitch},
    {"bridge", "isDefaultGateway", Form::kSwitch},
    {"bridge", "forceAddress", Form::kSwitch},
    {"bridge", "ipMasq", Form::kSwitch},
    {"bridge", "ipMasqBackend", Form::kChoice, 0, kBackends},
    {"bridge", "hairpinMode", Form::kSwitch},
    {"bridge", "promiscMode", Form::kSwitch},
    {"bridge", "macspoofchk", Form::kSwitch},
    {"bridge", "preserveDefaultVlan", Form::kSwitch},
    {"bridge", "enabledad", Form::kSwitch},
    {"bridge", "disableContainerInterface", Form::kSwitch},
    {"bridge", "portIsolation", Form::kSwitch},
    {"bridge", "vlan", Form::kNumber, kMostVlan},
    {"macvlan", "master", Form::kText},
    {"macvlan", "mode", Form::kChoice, 0, kMacvlanModes},
    {"macvlan", "mac", Form::kMac},
    {"macvlan", "linkInContainer", Form::kSwitch},
    {"macvlan", "bcqueuelen", Form::kNumber, kMostUnsigned},
    {"ipvlan", "master", Form::kText},
    {"ipvlan", "mode", Form::kChoice, 0, kIpvlanModes},
    {"ipvlan", "linkInContainer", Form::kSwitch},
    {"vlan", "master", Form::kText},
    {"vlan", "vlanId", Form::kNumber, kMostVlan},
    {"vlan", "linkInContainer", Form::kSwitch},
    {"ptp", "ipMasq", Form::kSwitch},
    {"ptp", "ipMasqBackend", Form::kChoice, 0, kBackends},
    {"host-device", "device", Form::kText},
    {"host-device", "hwaddr", Form::kMac},
    {"host-device", "kernelpath", Form::kText},
    {"host-device", "pciBusID", Form::kText},
    {"tap", "multiQueue", Form::kSwitch},
    {"tap", "mac", Form::kMac},
    {"tap", "owner", Form::kNumber, kMostUnsigned},
    {"tap", "group", Form::kNumber, kMostUnsigned},
    {"tap", "bridge", Form::kText},
    {"vrf", "vrfname", Form::kNewLink},
    {"vrf", "table", Form::kNumber, kMostUnsigned},
    {"tuning", "mac", Form::kMac},
    {"tuning", "promisc", Form::kSwitch},
    {"tuning", "allmulti", Form::kSwitch},
    {"tuning", "txQLen", Form::kNumber, kMostSigned},
    {"portmap", "snat", Form::kSwitch},
    {"portmap", "masqAll", Form::kSwitch},
    {"portmap", "markMasqBit", Form::kNumber, 31},
    {"portmap", "backend", Form::kChoice, 0, kBackends},
    {"bandwidth", "ingressRate", Form::kNumber, kMostRate},
    {"bandwidth", "ingressBurst", Form::kNumber, kMostBurst},
    {"bandwidth", "egressRate", Form::kNumber, kMostRate},
    {"bandwidth", "egressBurst", Form::kNumber, kMostBurst},
    {"firewall", "ingressPolicy", Form::kChoice, 0, kPolicies},
    {"sriov", "vlan", Form::kNumber, kMostVlan},
    {"sriov", "link_state", Form::kChoice, 0, kLinkStates},
    {"sriov", "spoofchk", Form::kChoice, 0, kOnOff},
    {"sriov", "trust", Form::kChoice, 0, kOnOff},
});
constexpr Rule kMtu{"", "mtu", Form::kNumber, 65536};

// What the value must be; empty: it is that.
std::string wanted(const Rule& rule, const json::Value& value) {
  const std::string* text = value.as_string();
  switch (rule.form) {
    case Form::kSwitch:
      return value.as_bool() != nullptr ? "" : "true or false";
    case Form::kNumber: {
      const auto number =
          value.as_number() == nullptr ? std::nullopt : value.as_number()->as_int64();
      const bool is_good = number && *number >= 0 && *number <= rule.most;
      return is_good ? "" : cat("a number from 0 to ", rule.most);
    }
    case Form::kChoice: {
      const bool is_good =
          text != nullptr &&
          (text->empty() || std::ranges::find(rule.choices, *text) != rule.choices.end());
      return is_good ? "" : cat("one of ", join({rule.choices.begin(), rule.choices.end()}, ", "));
    }
    case Form::kText:
      return text != nullptr ? "" : "a text";
    case Form::kNewLink: {
      const bool is_good = text != nullptr && (text->empty() || cni::validate_ifname(*text));
      return is_good ? "" : "the name of an interface, of at most 15 characters";
    }
    case Form::kMac: {
      const bool is_good = text != nullptr && (text->empty() || model::is_hardware_address(*text));
      return is_good ? "" : "a hardware address";
    }
  }
  return {};
}

class PluginValues {
 public:
  PluginValues(const PluginPart& plugin, Reporter& report) : plugin_(plugin), report_(report) {}

  void run() {
    for (const Rule& rule : kRules) {
      if (rule.type == plugin_.type) apply(rule);
    }
    if (find_plugin(plugin_.type, false) != nullptr) apply(kMtu);
    if (plugin_.type == "vlan") need({"master", "vlanId"});
    if (plugin_.type == "vrf") need({"vrfname"});
    if (plugin_.type == "bridge") check_bridge();
    if (plugin_.type == "tuning") check_sysctl();
    if (plugin_.type == "portmap" && find("externalSetMarkChain") && find("markMasqBit")) {
      refuse("markMasqBit", "markMasqBit of portmap cannot be set beside externalSetMarkChain");
    }
    if (plugin_.type == "bandwidth") {
      check_rate("ingressRate", "ingressBurst");
      check_rate("egressRate", "egressBurst");
    }
  }

 private:
  // nullptr: absent, or null.
  const json::Value* find(std::string_view key) const {
    const json::Value* value = plugin_.conf.find_folded(key);
    return value == nullptr || value->is_null() ? nullptr : value;
  }

  void refuse(std::string_view key, std::string why) {
    report_.value(below(plugin_.pointer, key), "MN019", std::move(why));
  }

  void apply(const Rule& rule) {
    const json::Value* value = find(rule.key);
    const std::string form = value == nullptr ? std::string() : wanted(rule, *value);
    if (form.empty()) return;
    const bool is_compound = value->as_object() != nullptr || value->as_array() != nullptr;
    refuse(rule.key, cat(rule.key, " of ", plugin_.type, " must be ", form, ", not ",
                         is_compound ? std::string(value->kind()) : excerpt(json::dump(*value))));
  }

  void need(std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
      if (plugin_.conf.find_folded(key) != nullptr) continue;
      report_.value(plugin_.pointer, "MN018", cat(plugin_.type, " needs ", go_quoted(key)));
    }
  }

  void check_bridge() {
    if (json::is_true(find("hairpinMode")) && json::is_true(find("promiscMode"))) {
      refuse("promiscMode", "promiscMode of bridge cannot be on beside hairpinMode");
    }
    const json::Object* ipam = json::as_object(find("ipam"));
    if (json::is_true(find("disableContainerInterface")) && ipam != nullptr && !ipam->empty()) {
      refuse("disableContainerInterface",
             "disableContainerInterface of bridge cannot be on beside ipam");
    }
    const auto trunks = json::elements_of(find("vlanTrunk"));
    for (std::size_t i = 0; i < trunks.size(); ++i) check_trunk(trunks[i], cat("vlanTrunk/", i));
  }

  // `{"id": 5}` or `{"minID": 5, "maxID": 9}`
  void check_trunk(const json::Value& value, const std::string& where) {
    const std::string pointer = cat(plugin_.pointer, "/", where);
    const json::Object* trunk = value.as_object();
    if (trunk == nullptr) {
      return report_.value(pointer, "MN019",
                           cat("an element of vlanTrunk must be an object, not ", value.kind()));
    }
    for (const std::string_view key : {"id"sv, "minID"sv, "maxID"sv}) {
      const json::Value* id = trunk->find_folded(key);
      if (id == nullptr || id->is_null()) continue;
      const std::int64_t number = json::number_of(id);
      if (number >= 1 && number <= kMostVlan) continue;
      report_.value(below(pointer, key), "MN019",
                    cat(key, " of vlanTrunk must be a number from 1 to ", kMostVlan, ", not ",
                        excerpt(json::dump(*id))));
    }
    const auto* least = trunk->find_folded("minID");
    const auto* most = trunk->find_folded("maxID");
    if ((least == nullptr) != (most == nullptr)) {
      report_.value(pointer, "MN018",
                    cat("vlanTrunk needs ", least == nullptr ? "\"minID\" beside \"maxID\""
                                                             : "\"maxID\" beside \"minID\""));
    } else if (least != nullptr && json::number_of(least) > json::number_of(most)) {
      report_.value(below(pointer, "minID"), "MN019", "minID of vlanTrunk is greater than maxID");
    }
  }

  void check_sysctl() {
    const json::Value* value = find("sysctl");
    if (value == nullptr) return;
    const json::Object* all = value->as_object();
    if (all == nullptr) {
      return refuse("sysctl", cat("sysctl of tuning must be an object, not ", value->kind()));
    }
    for (const auto& [key, setting] : *all) {
      const std::string pointer = below(below(plugin_.pointer, "sysctl"), key);
      if (!key.starts_with("net.") && !key.starts_with("net/") && !key.starts_with("/net/")) {
        report_.key(pointer, "MN019",
                    cat(go_quoted(key), " of tuning: only what is below net. can be set"));
      }
      if (setting.as_string() != nullptr || setting.is_null()) continue;
      report_.value(pointer, "MN019",
                    cat(go_quoted(key), " of tuning must be a text, such as \"1\", not ",
                        excerpt(json::dump(setting))));
    }
  }

  void check_rate(std::string_view rate, std::string_view burst) {
    const bool has_rate = json::number_of(find(rate)) != 0;
    const bool has_burst = json::number_of(find(burst)) != 0;
    if (has_rate == has_burst) return;
    report_.value(below(plugin_.pointer, has_rate ? rate : burst), "MN018",
                  cat("bandwidth needs ", go_quoted(has_rate ? burst : rate), " beside ",
                      go_quoted(has_rate ? rate : burst)));
  }

  const PluginPart& plugin_;
  Reporter& report_;
};

}  // namespace

void check_values(const PluginPart& plugin, Reporter& report) {
  PluginValues(plugin, report).run();
}

void check_order(const std::vector<PluginPart>& plugins, Reporter& report) {
  constexpr std::array kFollowers = {"portmap"sv, "bandwidth"sv, "firewall"sv,
                                     "tuning"sv,  "vrf"sv,       "sbr"sv};
  if (plugins.empty()) return;
  const PluginPart& first = plugins.front();
  if (std::ranges::find(kFollowers, first.type) == kFollowers.end()) return;
  report.value(below(first.pointer, "type"), "MN026",
               cat(first.type,
                   " works on the interface of the plugin before it, and there is none: "
                   "make a list of plugins in which it is not the first"));
}

}  // namespace mnet::lint
