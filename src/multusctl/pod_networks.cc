#include "multusctl/pod_networks.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
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
#include "json/json.h"
#include "kube/objects.h"
#include "model/networks_annotation.h"
#include "model/objects.h"
#include "model/requested_networks.h"
#include "model/selection_element.h"

namespace mnet::multusctl {
namespace {

using model::NetworkSelectionElement;

// A status of ours has at most 192 KiB (02, 2.4), which is less.
constexpr std::size_t kMostEntries = 4000, kMostValues = 20'000;
constexpr std::size_t kMostShown = 8;  // addresses of a network

// An entry of the network status.
struct Got {
  NetworkRow row;
  bool is_default = false;
  bool is_taken = false;  // by a network that was asked for
};

// Anyone who may write the pod's annotations chooses how much is in it.
Result<std::vector<Got>> read_status(const std::string& text) {
  std::vector<Got> out;
  if (trim(text).empty()) return out;
  const json::Count count = json::count(text);
  if (count.values > kMostValues || count.elements > kMostEntries) {
    return Error(Errc::kInvalid,
                 cat("more than ", kMostEntries, " entries or ", kMostValues, " values"));
  }
  MNET_TRY(const json::Value document, json::parse(text));
  const json::Array* entries = document.as_array();
  if (entries == nullptr) return Error(Errc::kInvalid, "not a list");
  for (const json::Value& value : *entries) {
    const json::Object* entry = value.as_object();
    if (entry == nullptr) return Error(Errc::kInvalid, "an entry is not an object");
    Got got;
    got.row.network = excerpt(json::text_at(*entry, {"name"}));
    got.row.interface = excerpt(json::text_at(*entry, {"interface"}));
    got.row.mac = excerpt(json::text_at(*entry, {"mac"}));
    for (const json::Value& ip : json::elements_of(entry->find("ips"))) {
      got.row.ips.push_back(excerpt(json::text_of(&ip)));
    }
    got.is_default = json::is_true(entry->find("default"));
    out.push_back(std::move(got));
  }
  return out;
}

std::string without_prefix(const std::string& address) {
  const auto parsed = cni::IpAddress::parse(std::string_view(address).substr(0, address.find('/')));
  return parsed ? parsed->text() : address;
}

// Compares what was asked of a network with what it gave.
void compare(const NetworkSelectionElement& asked, NetworkRow& row) {
  std::set<std::string> got;
  for (const std::string& ip : row.ips) got.insert(without_prefix(ip));
  for (const std::string& ip : asked.ips.value_or(std::vector<std::string>())) {
    if (got.contains(without_prefix(ip))) continue;
    row.state = "other-address";
    row.why = cat("asked for ", excerpt(ip), " and got ", addresses_of(row),
                  ": does a plugin of the definition have the capability ips?");
    return;
  }
  if (!asked.mac.empty() && !equal_ignoring_case(asked.mac, row.mac)) {
    row.state = "other-mac";
    row.why = cat("asked for ", excerpt(asked.mac), " and got ", row.mac,
                  ": does a plugin of the definition have the capability mac?");
  }
}

class Comparison {
 public:
  Comparison(const json::Object& pod, const DefinitionNames& definitions)
      : pod_(pod), definitions_(definitions) {
    out_.ns = json::text_at(pod, {"metadata", "namespace"});
    out_.name = json::text_at(pod, {"metadata", "name"});
    out_.node = json::text_at(pod, {"spec", "nodeName"});
    phase_ = json::text_at(pod, {"status", "phase"});
    out_.is_ended = phase_ == "Succeeded" || phase_ == "Failed";
  }

  PodRows run() {
    const std::string* networks = kube::annotation_of(pod_, model::kNetworksAnnotation);
    if (json::is_true(json::find_at(pod_, {"spec", "hostNetwork"}))) {
      if (networks != nullptr && !trim(*networks).empty()) {
        add(excerpt(*networks), "", "host-network",
            "the pod uses the host's network: no networks are attached to it");
      }
      return std::move(out_);
    }
    const std::string* status = kube::annotation_of(pod_, model::kNetworkStatusAnnotation);
    has_status_ = status != nullptr;
    auto got = read_status(status == nullptr ? std::string() : *status);
    if (!got) {
      add("", "", "bad-status", cat("the network status cannot be read: ", got.error().text()));
      return std::move(out_);
    }
    got_ = *std::move(got);
    add_first();
    if (networks != nullptr) add_asked(*networks);
    add_rest();
    return std::move(out_);
  }

 private:
  void add(std::string network, std::string interface, std::string state, std::string why) {
    out_.networks.push_back({.network = std::move(network),
                             .interface = std::move(interface),
                             .state = std::move(state),
                             .why = std::move(why)});
  }

  bool is_pending() const { return phase_ != "Running" && !out_.is_ended; }

  // The network of eth0.
  void add_first() {
    const auto first = std::ranges::find_if(got_, &Got::is_default);
    if (first == got_.end()) return;
    first->is_taken = true;
    out_.networks.push_back(first->row);
  }

  void add_asked(const std::string& text) {
    const auto elements = model::parse_networks_annotation(text, out_.ns);
    if (!elements) {
      return add("", "", "bad-annotation",
                 cat("the annotation ", model::kNetworksAnnotation,
                     " cannot be read: ", elements.error().text()));
    }
    for (std::size_t i = 0; i < elements->size(); ++i) {
      const NetworkSelectionElement& asked = (*elements)[i];
      const std::string key = excerpt(cat(asked.ns, "/", asked.name));
      if (Got* got = find_got(key, asked.ifname)) {
        NetworkRow row = got->row;
        compare(asked, row);
        out_.networks.push_back(std::move(row));
      } else {
        add_missing(asked, key, i);
      }
    }
  }

  Got* find_got(const std::string& key, const std::string& ifname) {
    const auto found = std::ranges::find_if(got_, [&](const Got& got) {
      return !got.is_taken && got.row.network == key &&
             (ifname.empty() || got.row.interface == ifname);
    });
    if (found == got_.end()) return nullptr;
    found->is_taken = true;
    return &*found;
  }

  void add_missing(const NetworkSelectionElement& asked, const std::string& key,
                   std::size_t index) {
    const std::string name = asked.ifname.empty() ? cat("net", index + 1) : excerpt(asked.ifname);
    if (!definitions_.contains(cat(asked.ns, "/", asked.name))) {
      return add(key, name, "no-definition",
                 cat("there is no definition ", key, ": create it, or correct the annotation"));
    }
    if (is_pending()) {
      return add(key, name, "pending",
                 cat("the pod is ", phase_.empty() ? "not scheduled" : excerpt(phase_),
                     ": `kubectl -n ", out_.ns, " describe pod ", out_.name, "` shows its events"));
    }
    if (!has_status_) {
      return add(key, name, "no-status",
                 "the pod runs without a network status: it was started while the node had no "
                 "Multus, or its status could not be written; delete the pod to have it attached");
    }
    add(key, name, "not-attached",
        "the network was never attached: the pod was started before it asked for it, or without "
        "Multus; delete the pod to have it attached");
  }

  // Networks of the configuration (defaultNetworks), hot-plugged ones, or ones that were asked for
  // when the pod started.
  void add_rest() {
    for (const Got& got : got_) {
      if (got.is_taken) continue;
      NetworkRow row = got.row;
      row.state = "not-asked";
      out_.networks.push_back(std::move(row));
    }
  }

  const json::Object& pod_;
  const DefinitionNames& definitions_;
  PodRows out_;
  std::string phase_;
  bool has_status_ = false;
  std::vector<Got> got_;
};

}  // namespace

std::string addresses_of(const NetworkRow& row) {
  const std::size_t shown = std::min(row.ips.size(), kMostShown);
  const auto rest = row.ips.begin() + static_cast<std::ptrdiff_t>(shown);
  std::string text = join(std::vector<std::string>(row.ips.begin(), rest), ",");
  return shown == row.ips.size() ? text : cat(text, " and ", row.ips.size() - shown, " more");
}

PodRows rows_of(const json::Object& pod, const DefinitionNames& definitions) {
  return Comparison(pod, definitions).run();
}

}  // namespace mnet::multusctl
