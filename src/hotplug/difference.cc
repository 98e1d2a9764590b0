#include "hotplug/difference.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attach/recorded_attachments.h"
#include "base/text.h"
#include "hotplug/attributes.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/nad.h"
#include "model/selection_element.h"

namespace mnet::hotplug {
namespace {

using model::NetworkSelectionElement;
using model::RecordedAttachment;

// Attributes that a pod may request and hot-plug may change. Default routes are refused.
constexpr std::array<std::string_view, 7> kCompared = {
    "ips", "mac", "infiniband-guid", "bandwidth", "portMappings", "cni-args", "deviceID"};

// Of what another multus attached.
constexpr std::array<std::string_view, 2> kKnownOfOthers = {"ips", "mac"};

// Attachments that reconciliation may remove (05, 3.2).
bool is_owned(const RecordedAttachment& one) {
  return one.source == model::Source::kAnnotation || one.source == model::Source::kHotplug;
}

bool is_attached(const RecordedAttachment& one) {
  return one.state == model::AttachmentState::kAttached;
}

// Works out one Difference.
class Matching {
 public:
  Matching(const std::vector<NetworkSelectionElement>& wanted,
           const model::AttachmentRecord& record, const DifferenceRules& rules)
      : wanted_(wanted),
        record_(record),
        rules_(rules),
        match_of_(wanted.size(), nullptr),
        old_name_of_(wanted.size()) {}

  Difference run() {
    match_named();
    match_unnamed();
    compare_attributes();
    find_removals();
    find_additions();
    return std::move(out_);
  }

 private:
  const RecordedAttachment* find(auto fits) const {
    for (const RecordedAttachment& one : record_.attachments) {
      if (!taken_.contains(one.ifname) && fits(one)) return &one;
    }
    return nullptr;
  }
  void match(std::size_t i, const RecordedAttachment& one) {
    match_of_[i] = &one;
    taken_.insert(one.ifname);
    ++out_.matched;
  }

  void match_named() {
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const NetworkSelectionElement& element = wanted_[i];
      if (element.ifname.empty()) continue;
      const std::string network = network_of(element);
      const RecordedAttachment* found = find([&](const RecordedAttachment& one) {
        return is_owned(one) && is_attached(one) && one.ifname == element.ifname &&
               one.network == network;
      });
      if (found == nullptr) found = find_clients(element, network);
      if (found != nullptr) match(i, *found);
    }
  }

  // An attachment that a client of /delegate made, if the element means the same network.
  const RecordedAttachment* find_clients(const NetworkSelectionElement& element,
                                         const std::string& network) {
    const auto name = rules_.cni_names.find(network);
    if (name == rules_.cni_names.end()) return nullptr;
    const RecordedAttachment* found = find([&](const RecordedAttachment& one) {
      return one.source == model::Source::kDelegateApi && is_attached(one) &&
             one.ifname == element.ifname && one.cni_name == name->second;
    });
    if (found != nullptr) out_.adopted.push_back({.ifname = found->ifname, .network = network});
    return found;
  }

  // In order: if several are equal, the one that was attached last is left over.
  void match_unnamed() {
    for (const bool is_whole : {true, false}) {
      for (std::size_t i = 0; i < wanted_.size(); ++i) {
        if (!wanted_[i].ifname.empty() || match_of_[i] != nullptr) continue;
        const RecordedAttachment* found = find([&](const RecordedAttachment& one) {
          return is_owned(one) && is_attached(one) == is_whole &&
                 one.network == network_of(wanted_[i]) && !half_done_.contains(one.ifname);
        });
        if (found == nullptr) continue;
        if (is_whole) {
          match(i, *found);
        } else {
          old_name_of_[i] = found->ifname;
          half_done_.insert(found->ifname);
        }
      }
    }
  }

  std::span<const std::string_view> compared_of(const RecordedAttachment& one) const {
    if (rules_.reconstructed.contains(one.ifname)) return kKnownOfOthers;
    return kCompared;
  }

  void learn(const RecordedAttachment& one, json::Object attributes) {
    if (!rules_.reconstructed.contains(one.ifname)) return;
    if (equal_attributes(one.attributes, attributes, kCompared)) return;
    out_.learned.push_back({.ifname = one.ifname, .attributes = std::move(attributes)});
  }

  void compare_attributes() {
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const RecordedAttachment* one = match_of_[i];
      if (one == nullptr) continue;
      json::Object wanted = model::attributes_of(wanted_[i]);
      if (equal_attributes(one->attributes, wanted, compared_of(*one))) {
        learn(*one, std::move(wanted));
        continue;
      }
      if (!rules_.replaces_on_change) {
        out_.ignored.push_back({.ifname = one->ifname,
                                .network = one->network,
                                .reason = "its attributes have changed; they are applied when the "
                                          "pod is recreated, or at once with onAttributeChange "
                                          "replace",
                                .wanted = std::move(wanted)});
        continue;
      }
      match_of_[i] = nullptr;
      old_name_of_[i] = one->ifname;
      taken_.erase(one->ifname);
      --out_.matched;
    }
  }

  void find_removals() {
    for (const RecordedAttachment& one : record_.attachments) {
      const std::vector<std::string> names = attach::interfaces_of(one);
      const bool goes = is_owned(one) && !taken_.contains(one.ifname);
      if (!goes) {
        used_.insert(names.begin(), names.end());
        continue;
      }
      out_.removals.push_back({.ifname = one.ifname, .network = one.network});
      // If something could not be removed at once, it is not known whether its name becomes free.
      if (!is_attached(one)) slow_.insert(names.begin(), names.end());
      freed_.insert(names.begin(), names.end());
    }
    std::ranges::reverse(out_.removals);
  }

  void find_additions() {
    std::set<std::string> named;
    for (const NetworkSelectionElement& element : wanted_) named.insert(element.ifname);
    for (const std::string& name : old_name_of_) named.insert(name);
    std::set<std::string> given;
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      if (match_of_[i] != nullptr) continue;
      const NetworkSelectionElement& element = wanted_[i];
      std::string reason = why_not(element, given);
      if (!reason.empty()) {
        out_.rejected.push_back({.ifname = element.ifname,
                                 .network = network_of(element),
                                 .reason = std::move(reason)});
        continue;
      }
      std::string ifname = element.ifname.empty() ? old_name_of_[i] : element.ifname;
      if (ifname.empty()) ifname = free_name(named, given);
      given.insert(ifname);
      out_.additions.push_back(
          {.element = element, .ifname = std::move(ifname), .auto_name = element.ifname.empty()});
    }
  }

  // Empty: it may be attached.
  std::string why_not(const NetworkSelectionElement& element,
                      const std::set<std::string>& given) const {
    const std::string& ifname = element.ifname;
    if (rules_.may_select && !rules_.may_select(element.ns)) {
      return cat("namespace isolation does not let the pod select networks of namespace ",
                 excerpt(element.ns));
    }
    if (element.gateways && !element.gateways->empty()) {
      return "default-route cannot be changed in a running pod";
    }
    if (ifname.empty()) return {};
    if (given.contains(ifname)) return "the annotation names this interface twice";
    if (const RecordedAttachment* there = record_.find(ifname);
        there != nullptr && there->source == model::Source::kCluster) {
      return "it is the interface of the cluster network";
    }
    if (used_.contains(ifname)) return "the interface has another network";
    return {};
  }

  std::string free_name(const std::set<std::string>& named, const std::set<std::string>& given) {
    for (;; ++next_name_) {
      std::string name = cat("net", next_name_);
      const bool is_taken = used_.contains(name) || slow_.contains(name) || named.contains(name) ||
                            given.contains(name) ||
                            (rules_.links.contains(name) && !freed_.contains(name));
      if (!is_taken) return name;
    }
  }

  const std::vector<NetworkSelectionElement>& wanted_;
  const model::AttachmentRecord& record_;
  const DifferenceRules& rules_;
  std::vector<const RecordedAttachment*> match_of_;  // by element
  std::vector<std::string> old_name_of_;             // likewise: of what it was attached as before
  std::set<std::string> taken_;                      // interfaces that are matched
  std::set<std::string> half_done_;                  // likewise, those that must come anew
  std::set<std::string> used_, freed_, slow_;        // names: that stay, that go, that may stay
  std::size_t next_name_ = 1;  // names with smaller numbers are taken, and stay so
  Difference out_;
};

}  // namespace

std::string network_of(const NetworkSelectionElement& element) {
  return cat(element.ns, "/", element.name);
}

Difference difference(const std::vector<NetworkSelectionElement>& wanted,
                      const model::AttachmentRecord& record, const DifferenceRules& rules) {
  return Matching(wanted, record, rules).run();
}

}  // namespace mnet::hotplug
