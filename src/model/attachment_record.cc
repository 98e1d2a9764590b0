#include "model/attachment_record.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/args.h"
#include "json/at.h"
#include "json/fields.h"
#include "json/json.h"

namespace mnet::model {
namespace {

constexpr std::int64_t kVersion = 1;

// In the order of the enumerators.
constexpr std::array<std::string_view, 6> kSources = {
    "cluster", "default-networks", "aux-chain", "annotation", "hotplug", "delegate-api"};
constexpr std::array<std::string_view, 3> kAttachmentStates = {"adding", "attached", "removing"};
constexpr std::array<std::string_view, 3> kRecordStates = {"creating", "ready", "deleting"};

template <typename Enum, std::size_t n>
std::string_view name_of(Enum value, const std::array<std::string_view, n>& names) {
  return names[static_cast<std::size_t>(value)];
}

template <typename Enum, std::size_t n>
void read_name(json::Fields& fields, std::string_view key, Enum& out,
               const std::array<std::string_view, n>& names) {
  std::string name;
  fields.read(key, name);
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    fields.fail(key, cat("unknown value ", go_quoted(name)));
    return;
  }
  out = static_cast<Enum>(found - names.begin());
}

void read_object(json::Fields& fields, std::string_view key, json::Object& out) {
  fields.object(key, [&](const json::Object& object, const std::string&) {
    out = object;
    return Result<void>();
  });
}

json::Array encode_args(const cni::ArgPairs& pairs) {
  json::Array array;
  for (const auto& [key, value] : pairs) array.emplace_back(json::Array{key, value});
  return array;
}

Result<void> decode_arg(const json::Value& value, const std::string& path, cni::ArgPairs& out) {
  const json::Array* pair = value.as_array();
  if (pair == nullptr || pair->size() != 2) return json::wrong_kind(path, "a pair", value);
  const std::string* key = pair->front().as_string();
  const std::string* text = pair->back().as_string();
  if (key == nullptr || text == nullptr) return json::wrong_kind(path, "a pair of texts", value);
  out.emplace_back(*key, *text);
  return {};
}

json::Object encode_attachment(RecordedAttachment attachment) {
  json::Object object;
  object.append("source", name_of(attachment.source, kSources));
  object.append("network", std::move(attachment.network));
  object.append("cniName", std::move(attachment.cni_name));
  object.append("ifName", std::move(attachment.ifname));
  object.append("autoName", attachment.auto_name);
  object.append("attributes", std::move(attachment.attributes));
  object.append("configHash", std::move(attachment.config_hash));
  object.append("deviceID", std::move(attachment.device_id));
  object.append("resourceName", std::move(attachment.resource_name));
  object.append("config", std::move(attachment.config));
  object.append("capabilityArgs", std::move(attachment.capability_args));
  if (attachment.result) object.append("result", *std::move(attachment.result));
  object.append("state", name_of(attachment.state, kAttachmentStates));
  object.append("addedAt", std::move(attachment.added_at));
  if (attachment.link_index != 0) {
    object.append("linkIndex", json::Number::of_text(cat(attachment.link_index)));
  }
  return object;
}

Result<RecordedAttachment> decode_attachment(const json::Object& object, std::string path) {
  RecordedAttachment attachment;
  json::Fields fields(object, std::move(path), json::Match::kExact);
  read_name(fields, "source", attachment.source, kSources);
  fields.read("network", attachment.network);
  fields.read("cniName", attachment.cni_name);
  fields.read("ifName", attachment.ifname);
  if (attachment.ifname.empty()) fields.fail("ifName", "is missing");
  fields.read("autoName", attachment.auto_name);
  read_object(fields, "attributes", attachment.attributes);
  fields.read("configHash", attachment.config_hash);
  fields.read("deviceID", attachment.device_id);
  fields.read("resourceName", attachment.resource_name);
  read_object(fields, "config", attachment.config);
  read_object(fields, "capabilityArgs", attachment.capability_args);
  if (const json::Value* result = fields.find("result")) attachment.result = *result;
  read_name(fields, "state", attachment.state, kAttachmentStates);
  fields.read("addedAt", attachment.added_at);
  fields.read("linkIndex", attachment.link_index);
  MNET_TRY_VOID(fields.done());
  return attachment;
}

Result<void> decode_element(const json::Value& value, const std::string& path,
                            AttachmentRecord& record) {
  const json::Object* object = value.as_object();
  if (object == nullptr) return json::wrong_kind(path, "an object", value);
  MNET_TRY(auto&& attachment, decode_attachment(*object, path));
  // An interface name must mean one attachment and no other.
  if (record.find(attachment.ifname) != nullptr) {
    return Error(Errc::kProtocol, cat(path, ": interface ", attachment.ifname, " occurs twice"));
  }
  record.attachments.push_back(std::move(attachment));
  return {};
}

json::Array encode_stale(std::vector<StaleStatus> stale) {
  json::Array array;
  for (StaleStatus& one : stale) {
    array.emplace_back(json::Object{{"network", std::move(one.network)}, {"ifNames", one.ifnames}});
  }
  return array;
}

Result<void> decode_stale(const json::Value& value, const std::string& path,
                          std::vector<StaleStatus>& out) {
  const json::Object* object = value.as_object();
  if (object == nullptr) return json::wrong_kind(path, "an object", value);
  StaleStatus one;
  json::Fields fields(*object, path, json::Match::kExact);
  fields.read("network", one.network);
  fields.read("ifNames", one.ifnames);
  MNET_TRY_VOID(fields.done());
  out.push_back(std::move(one));
  return {};
}

void read_header(json::Fields& fields, AttachmentRecord& record) {
  std::int64_t version = 0;
  fields.read("version", version);
  if (version != kVersion) fields.fail("version", cat("unknown version ", version));
  fields.read("containerID", record.container_id);
  if (record.container_id.empty()) fields.fail("containerID", "is missing");
  fields.read("netns", record.netns);
  fields.read("netnsInode", record.netns_inode);
  fields.read("bootID", record.boot_id);
  fields.read("podNamespace", record.pod_ns);
  fields.read("podName", record.pod_name);
  fields.read("podUID", record.pod_uid);
  fields.read("static", record.is_static);
  fields.read("cniPath", record.cni_path);
  read_name(fields, "state", record.state, kRecordStates);
  fields.read(kStatusOwed, record.status_owed);
  fields.read("pendingDel", record.is_pending);
  fields.read("statusBehind", record.status_behind);
}

}  // namespace

const RecordedAttachment* AttachmentRecord::find(std::string_view ifname) const {
  const auto found = std::ranges::find(attachments, ifname, &RecordedAttachment::ifname);
  return found == attachments.end() ? nullptr : &*found;
}

RecordedAttachment* AttachmentRecord::find(std::string_view ifname) {
  const auto found = std::ranges::find(attachments, ifname, &RecordedAttachment::ifname);
  return found == attachments.end() ? nullptr : &*found;
}

json::Object encode_record(AttachmentRecord record) {
  json::Object object;
  object.append("version", kVersion);
  object.append("containerID", std::move(record.container_id));
  object.append("netns", std::move(record.netns));
  object.append("netnsInode", json::Number::of_text(cat(record.netns_inode)));
  object.append("bootID", std::move(record.boot_id));
  object.append("podNamespace", std::move(record.pod_ns));
  object.append("podName", std::move(record.pod_name));
  object.append("podUID", std::move(record.pod_uid));
  object.append("static", record.is_static);
  object.append("cniArgs", encode_args(record.cni_args));
  if (!record.cni_path.empty()) object.append("cniPath", std::move(record.cni_path));
  object.append("state", name_of(record.state, kRecordStates));
  if (record.status_owed) object.append(std::string(kStatusOwed), true);
  if (record.is_pending) object.append("pendingDel", true);
  if (record.status_behind) object.append("statusBehind", true);
  if (!record.stale_statuses.empty()) {
    object.append("staleStatuses", encode_stale(std::move(record.stale_statuses)));
  }
  json::Array attachments;
  for (RecordedAttachment& attachment : record.attachments) {
    attachments.emplace_back(encode_attachment(std::move(attachment)));
  }
  object.append("attachments", std::move(attachments));
  return object;
}

Result<AttachmentRecord> decode_record(const json::Object& object) {
  AttachmentRecord record;
  json::Fields fields(object, {}, json::Match::kExact);
  read_header(fields, record);
  fields.list("cniArgs", [&](const json::Value& value, const std::string& path) {
    return decode_arg(value, path, record.cni_args);
  });
  fields.list("staleStatuses", [&](const json::Value& value, const std::string& path) {
    return decode_stale(value, path, record.stale_statuses);
  });
  fields.list("attachments", [&](const json::Value& value, const std::string& path) {
    return decode_element(value, path, record);
  });
  if (auto done = fields.done(); !done) {
    return Error(Errc::kProtocol, cat("damaged attachment record: ", done.error().text()));
  }
  return record;
}

std::string config_hash(const json::Object& config) {
  const auto hash_of = [](const json::Object& object) {
    return cat("sha256:", sha256_hex(json::dump(object, json::kSorted)));
  };
  const json::Value* version = config.find("cniVersion");
  const std::string* text = json::as_string(version);
  // A missing version means the oldest one (01, 1), so the two compare equal.
  const bool is_missing = version == nullptr || version->is_null() || (text && text->empty());
  if (!is_missing) return hash_of(config);
  json::Object filled = config;
  filled.set("cniVersion", "0.1.0");
  return hash_of(filled);
}

}  // namespace mnet::model
