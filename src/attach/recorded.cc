#include "attach/recorded.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attach/core.h"
#include "attach/plan.h"
#include "attach/ports.h"
#include "attach/record.h"
#include "attach/source.h"
#include "base/text.h"
#include "chain/chain.h"
#include "cni/result.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/pod_args.h"
#include "model/selection.h"
#include "model/wanted.h"
#include "model/wishes.h"

namespace mnet::attach {
namespace {

// The cluster network's, where the books do not know better: a request for another network does
// not say.
constexpr std::string_view kUsualIfname = "eth0";

// What is wished of addresses, the only wishes that are not in configuration or capability
// arguments.
model::Wishes wishes_in(const json::Object& attributes) {
  model::Wishes wishes;
  if (const json::Value* mac = attributes.find("mac"); mac != nullptr && mac->as_string()) {
    wishes.mac = *mac->as_string();
  }
  const json::Value* ips = attributes.find("ips");
  if (ips == nullptr || ips->as_array() == nullptr) return wishes;
  wishes.ips.emplace();
  for (const json::Value& ip : *ips->as_array()) {
    if (ip.as_string() != nullptr) wishes.ips->push_back(*ip.as_string());
  }
  return wishes;
}

json::Object attributes_of(const model::Wishes& wishes) {
  json::Object attributes;
  if (wishes.ips && !wishes.ips->empty()) attributes.append("ips", *wishes.ips);
  if (!wishes.mac.empty()) attributes.append("mac", wishes.mac);
  return attributes;
}

// A configuration that cannot be run stays in the list: that it could not be deleted must not go
// unsaid.
model::Delegate delegate_of_recorded(const model::RecordedAttachment& recorded,
                                     const std::string& version) {
  model::Delegate delegate;
  auto parsed = model::parse_delegate(json::dump(recorded.config));
  if (parsed) {
    delegate = *std::move(parsed);
    fill_version(delegate, version);
  } else {
    delegate.cni_name = recorded.cni_name;
    delegate.types = {""};
    delegate.list = std::move(parsed).error();
  }
  delegate.name = recorded.network;
  delegate.source = recorded.source;
  delegate.config_hash = recorded.config_hash;
  delegate.attributes = recorded.attributes;
  delegate.wishes = wishes_in(recorded.attributes);
  delegate.wishes.ifname = recorded.ifname;
  delegate.wishes.device_id = recorded.device_id;
  delegate.wishes.resource_name = recorded.resource_name;
  return delegate;
}

// Elements of the pod's annotation, as delegates are named after them.
std::set<std::string> wanted_networks(const model::PodObject* pod) {
  std::set<std::string> names;
  const std::string* text = pod == nullptr ? nullptr : pod->annotation(model::kNetworksAnnotation);
  if (text == nullptr) return names;
  auto elements = model::parse_networks_annotation(*text, pod->ns);
  if (!elements) return names;
  for (const model::Selection& element : *elements)
    names.insert(cat(element.ns, "/", element.name));
  return names;
}

model::RecordedAttachment recorded_of(const std::string& config) {
  model::RecordedAttachment recorded;
  recorded.state = model::AttachmentState::kAttached;
  recorded.config = json::parse_object(config).value_or(json::Object());
  recorded.config_hash = model::config_hash(recorded.config);
  return recorded;
}

void take_entry(model::RecordedAttachment& recorded, const cni::CacheEntry& entry) {
  recorded.capability_args = entry.capability_args;
  recorded.result = entry.result;
}

model::RecordedAttachment recorded_delegate(const model::Delegate& delegate, std::string ifname,
                                            const cni::CacheEntry* entry) {
  model::RecordedAttachment recorded = recorded_of(delegate.bytes);
  recorded.network = delegate.name;
  recorded.cni_name = delegate.cni_name;
  recorded.auto_name = !delegate.is_master && delegate.wishes.ifname.empty();
  recorded.ifname = std::move(ifname);
  recorded.attributes = attributes_of(delegate.wishes);
  recorded.device_id = delegate.wishes.device_id;
  recorded.resource_name = delegate.wishes.resource_name;
  if (entry != nullptr) take_entry(recorded, *entry);
  return recorded;
}

// Without a list nobody knows which one is the cluster network's; what has its usual name is
// protected as such.
model::RecordedAttachment recorded_entry(const cni::CacheEntry& entry, bool is_listed) {
  model::RecordedAttachment recorded = recorded_of(entry.config);
  recorded.source = !is_listed && entry.ifname == kUsualIfname ? model::Source::kCluster
                                                               : model::Source::kDelegateApi;
  recorded.network = recorded.cni_name = entry.network;
  recorded.ifname = entry.ifname;
  take_entry(recorded, entry);
  return recorded;
}

model::AttachmentRecord empty_journal(const Job& job, const model::PodObject* pod) {
  model::AttachmentRecord journal;
  journal.container_id = job.request.container_id;
  journal.netns = job.request.netns;
  journal.pod_ns = job.pod.ns;
  journal.pod_name = job.pod.name;
  journal.pod_uid = job.pod.uid;
  journal.is_static = pod != nullptr && pod->is_static;
  journal.cni_args = job.args;
  journal.state = model::RecordState::kReady;
  return journal;
}

void add_listed(model::AttachmentRecord& journal, const Record& record,
                const model::PodObject* pod) {
  if (!record.delegates) return;
  const std::set<std::string> wanted = wanted_networks(pod);
  const std::string master = record.master_ifname(std::string(kUsualIfname));
  for (std::size_t i = 0; i < record.delegates->size(); ++i) {
    const model::Delegate& delegate = (*record.delegates)[i];
    const std::string ifname = model::interface_name(delegate, i, master);
    if (delegate.removed || journal.find(ifname) != nullptr) continue;
    model::RecordedAttachment recorded =
        recorded_delegate(delegate, ifname, record.find_entry(delegate.cni_name, ifname));
    recorded.source = model::Source::kDefaultNetworks;
    if (wanted.contains(delegate.name)) recorded.source = model::Source::kAnnotation;
    if (i == 0) recorded.source = model::Source::kCluster;
    journal.attachments.push_back(std::move(recorded));
  }
}

}  // namespace

bool is_plugged_in(const model::RecordedAttachment& attachment) {
  return attachment.source == model::Source::kHotplug ||
         attachment.source == model::Source::kDelegateApi;
}

model::AttachmentPtr attachment_of(const Job& job, const model::AttachmentRecord& journal,
                                   const model::RecordedAttachment& recorded, bool address_wishes) {
  model::Attachment attachment;
  attachment.delegate = delegate_of_recorded(recorded, job.conf.cni_version);
  attachment.container_id = job.request.container_id;
  attachment.netns = job.request.netns;
  // An ADD that clears away an earlier one may have another namespace.
  if (job.verb == Verb::kAdd && !journal.netns.empty()) attachment.netns = journal.netns;
  attachment.ifname = recorded.ifname;
  attachment.args = job.verb == Verb::kGc ? journal.cni_args : job.args;
  if (address_wishes) {
    auto args = model::with_address_wishes(attachment.args, attachment.delegate.wishes);
    if (args) attachment.args = *std::move(args);
  }
  attachment.capability_args = recorded.capability_args;
  return std::make_shared<const model::Attachment>(std::move(attachment));
}

model::AttachmentRecord journal_of(const Job& job, const Record& record,
                                   const model::PodObject* pod) {
  model::AttachmentRecord journal = record.journal ? *record.journal : empty_journal(job, pod);
  add_listed(journal, record, pod);
  for (const cni::CacheEntry& entry : record.entries) {
    if (journal.find(entry.ifname) != nullptr) continue;
    journal.attachments.push_back(recorded_entry(entry, record.delegates.has_value()));
  }
  return journal;
}

std::vector<std::string> interfaces_of(const model::RecordedAttachment& attachment) {
  std::vector<std::string> names = {attachment.ifname};
  if (!attachment.result) return names;
  auto result = cni::read_result(*attachment.result);
  if (!result) return names;
  for (const cni::Interface& interface : result->interfaces) {
    if (!interface.sandbox.empty() && interface.name != attachment.ifname) {
      names.push_back(interface.name);
    }
  }
  return names;
}

}  // namespace mnet::attach
