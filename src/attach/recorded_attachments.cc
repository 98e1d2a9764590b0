#include "attach/recorded_attachments.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attach/container_records.h"
#include "attach/core.h"
#include "attach/request.h"
#include "base/netns_id.h"
#include "cni/cache.h"
#include "cni/result.h"
#include "json/json.h"
#include "model/attachment.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/objects.h"
#include "model/pod_args.h"
#include "model/selection_element.h"

namespace mnet::attach {
namespace {

// The cluster network's, where the records do not know better: a request for another network does
// not say.
constexpr std::string_view kUsualIfname = "eth0";

// The requested addresses, the only attributes that are not in configuration or capability
// arguments.
model::NetworkSelectionElement selection_in(const json::Object& attributes) {
  model::NetworkSelectionElement selection;
  if (const json::Value* mac = attributes.find("mac"); mac != nullptr && mac->as_string()) {
    selection.mac = *mac->as_string();
  }
  const json::Value* ips = attributes.find("ips");
  if (ips == nullptr || ips->as_array() == nullptr) return selection;
  selection.ips.emplace();
  for (const json::Value& ip : *ips->as_array()) {
    if (ip.as_string() != nullptr) selection.ips->push_back(*ip.as_string());
  }
  return selection;
}

json::Object attributes_of(const model::NetworkSelectionElement& selection) {
  json::Object attributes;
  if (selection.ips && !selection.ips->empty()) attributes.append("ips", *selection.ips);
  if (!selection.mac.empty()) attributes.append("mac", selection.mac);
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
  delegate.selection = selection_in(recorded.attributes);
  delegate.selection.ifname = recorded.ifname;
  delegate.selection.device_id = recorded.device_id;
  delegate.selection.resource_name = recorded.resource_name;
  return delegate;
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
  recorded.auto_name = !delegate.is_master && delegate.selection.ifname.empty();
  recorded.ifname = std::move(ifname);
  recorded.attributes = attributes_of(delegate.selection);
  if (!delegate.is_master) recorded.device_id = delegate.selection.device_id;
  recorded.resource_name = delegate.selection.resource_name;
  if (entry != nullptr) take_entry(recorded, *entry);
  return recorded;
}

// Without a list it is not known which one is the cluster network's; the one with its usual name
// is protected as such.
model::RecordedAttachment recorded_entry(const cni::CacheEntry& entry, bool is_listed) {
  model::RecordedAttachment recorded = recorded_of(entry.config);
  recorded.source = !is_listed && entry.ifname == kUsualIfname ? model::Source::kCluster
                                                               : model::Source::kDelegateApi;
  recorded.network = recorded.cni_name = entry.network;
  recorded.ifname = entry.ifname;
  take_entry(recorded, entry);
  return recorded;
}

model::AttachmentRecord empty_record(const Job& job, const model::PodObject* pod) {
  model::AttachmentRecord attachment_record;
  attachment_record.container_id = job.request.container_id;
  attachment_record.netns = job.request.netns;
  attachment_record.pod_ns = job.pod.ns;
  attachment_record.pod_name = job.pod.name;
  attachment_record.pod_uid = job.pod.uid;
  attachment_record.is_static = pod != nullptr && pod->is_static;
  attachment_record.cni_args = job.args;
  attachment_record.cni_path = job.request.path;
  attachment_record.state = model::RecordState::kReady;
  return attachment_record;
}

// A delegate of the scratch file.
struct Listed {
  std::size_t index;
  std::string ifname;
};

// Those that the attachment record does not know.
std::vector<Listed> only_listed(const ContainerRecords& record) {
  std::vector<Listed> found;
  if (!record.delegates) return found;
  const std::string master = record.master_ifname(std::string(kUsualIfname));
  for (std::size_t i = 0; i < record.delegates->size(); ++i) {
    const model::Delegate& delegate = (*record.delegates)[i];
    std::string ifname = model::interface_name(delegate, i, master);
    const bool is_known =
        record.attachment_record && record.attachment_record->find(ifname) != nullptr;
    if (!delegate.removed && !is_known) found.push_back({.index = i, .ifname = std::move(ifname)});
  }
  return found;
}

void add_listed(model::AttachmentRecord& attachment_record, const ContainerRecords& record,
                const std::set<std::string>& selected) {
  for (const Listed& one : only_listed(record)) {
    if (attachment_record.find(one.ifname) != nullptr) continue;
    const model::Delegate& delegate = (*record.delegates)[one.index];
    model::RecordedAttachment recorded =
        recorded_delegate(delegate, one.ifname, record.find_entry(delegate.cni_name, one.ifname));
    recorded.source = model::Source::kDefaultNetworks;
    if (selected.contains(delegate.name)) recorded.source = model::Source::kAnnotation;
    if (one.index == 0) recorded.source = model::Source::kCluster;
    attachment_record.attachments.push_back(std::move(recorded));
  }
}

}  // namespace

model::RecordedAttachment begin_attachment(const model::Attachment& attachment) {
  const model::Delegate& delegate = attachment.delegate;
  model::RecordedAttachment out;
  out.source = delegate.source;
  out.network = delegate.name;
  out.cni_name = delegate.cni_name;
  out.ifname = attachment.ifname;
  out.auto_name = delegate.selection.ifname.empty();
  out.attributes = delegate.attributes;
  out.config_hash = delegate.config_hash;
  // The cluster network takes none, whatever the pod's annotation names.
  if (!delegate.is_master) out.device_id = delegate.selection.device_id;
  out.resource_name = delegate.selection.resource_name;
  // Every configuration was found fit to run before.
  out.config = model::decoded_config(delegate);
  out.capability_args = attachment.capability_args;
  return out;
}

model::AttachmentRecord begin_record(const Job& job, const model::PodObjectPtr& pod, NetnsId netns,
                                     const std::string& boot_id,
                                     const std::vector<model::AttachmentPtr>& attachments) {
  model::AttachmentRecord record;
  record.container_id = job.request.container_id;
  record.netns = job.request.netns;
  record.netns_inode = netns.inode;
  record.boot_id = boot_id;
  record.pod_ns = job.pod.ns;
  record.pod_name = job.pod.name;
  record.pod_uid = pod == nullptr || pod->uid.empty() ? job.pod.uid : pod->uid;
  record.is_static = pod != nullptr && pod->is_static;
  record.cni_args = job.args;
  record.cni_path = job.request.path;
  for (const model::AttachmentPtr& attachment : attachments) {
    record.attachments.push_back(begin_attachment(*attachment));
  }
  return record;
}

void complete_record(model::AttachmentRecord& record, const std::vector<cni::NetResult>& results,
                     const std::string& now) {
  record.state = model::RecordState::kReady;
  for (std::size_t i = 0; i < results.size(); ++i) {
    model::RecordedAttachment& attachment = record.attachments[i];
    attachment.result = cni::to_json(results[i]);
    attachment.state = model::AttachmentState::kAttached;
    attachment.added_at = now;
  }
}

bool is_plugged_in(const model::RecordedAttachment& attachment) {
  return attachment.source == model::Source::kHotplug ||
         attachment.source == model::Source::kDelegateApi;
}

model::AttachmentPtr attachment_of(const Job& job, const model::AttachmentRecord& attachment_record,
                                   const model::RecordedAttachment& recorded, bool with_addresses) {
  model::Attachment attachment;
  attachment.delegate = delegate_of_recorded(recorded, job.conf.cni_version);
  attachment.container_id = job.request.container_id;
  attachment.netns = job.request.netns;
  // An ADD that clears away an earlier one may have another namespace.
  if (job.verb == Verb::kAdd && !attachment_record.netns.empty())
    attachment.netns = attachment_record.netns;
  attachment.ifname = recorded.ifname;
  attachment.args = job.verb == Verb::kGc ? attachment_record.cni_args : job.args;
  if (with_addresses) {
    auto args = model::with_selected_addresses(attachment.args, attachment.delegate.selection);
    if (args) attachment.args = *std::move(args);
  }
  attachment.capability_args = recorded.capability_args;
  return std::make_shared<const model::Attachment>(std::move(attachment));
}

bool lists_unrecorded(const ContainerRecords& record) { return !only_listed(record).empty(); }

model::AttachmentRecord attachment_record_of(const Job& job, const ContainerRecords& record,
                                             const model::PodObject* pod,
                                             const std::set<std::string>& selected) {
  model::AttachmentRecord attachment_record =
      record.attachment_record ? *record.attachment_record : empty_record(job, pod);
  add_listed(attachment_record, record, selected);
  for (const cni::CacheEntry& entry : record.entries) {
    if (attachment_record.find(entry.ifname) != nullptr) continue;
    attachment_record.attachments.push_back(recorded_entry(entry, record.delegates.has_value()));
  }
  return attachment_record;
}

model::AttachmentRecord header_of(const cni::CachedContainer& container) {
  model::AttachmentRecord header;
  header.container_id = container.container_id;
  header.netns = container.netns;
  header.cni_args = container.cni_args;
  model::Pod pod = model::read_pod_args_leniently(container.cni_args).pod;
  header.pod_ns = std::move(pod.ns);
  header.pod_name = std::move(pod.name);
  header.pod_uid = std::move(pod.uid);
  header.state = model::RecordState::kReady;
  return header;
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
