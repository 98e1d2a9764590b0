#include "devices/checkpoint.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/integer.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "devices/pod_resources.h"
#include "json/fields.h"
#include "json/json.h"
#include "sys/file.h"

namespace mnet::devices {
namespace {

constexpr std::size_t kMaxBytes = 16u << 20;
// What the device plugin told the runtime: large, and of no use here.
constexpr std::array<std::string_view, 1> kUnused = {"AllocResp"};

// By NUMA node; old kubelets wrote a plain list.
Result<void> read_ids(const json::Fields& entry, std::vector<std::string>& out) {
  const json::Value* value = entry.find("DeviceIDs");
  if (value == nullptr) return {};
  const std::string path = entry.path_of("DeviceIDs");
  const auto append = [&out](const json::Value& list, const std::string& where) -> Result<void> {
    if (list.as_array() == nullptr) return json::wrong_kind(where, "a list", list);
    for (const json::Value& id : *list.as_array()) {
      if (id.as_string() == nullptr) return json::wrong_kind(where, "a list of strings", id);
      out.push_back(*id.as_string());
    }
    return {};
  };
  if (value->as_object() == nullptr) return append(*value, path);
  for (const auto& [node, ids] : *value->as_object()) {
    if (!parse_integer<int>(node)) {
      return Error(Errc::kInvalid, cat(path, ": ", go_quoted(node), " is not a NUMA node"));
    }
    MNET_TRY_VOID(append(ids, path));
  }
  return {};
}

Result<void> read_entry(const json::Value& value, std::string path, Checkpoint& out) {
  if (value.as_object() == nullptr) return json::wrong_kind(path, "an object", value);
  Checkpoint::Entry& entry = out.entries.emplace_back();
  json::Fields fields(*value.as_object(), std::move(path));
  fields.read("PodUID", entry.pod_uid);
  fields.read("ContainerName", entry.container);
  fields.read("ResourceName", entry.resource);
  MNET_TRY_VOID(fields.done());
  return read_ids(fields, entry.ids);
}

Result<Checkpoint> read_checkpoint(const json::Object& document) {
  Checkpoint out;
  json::Fields fields(document);
  fields.object("Data", [&out](const json::Object& data, std::string path) {
    json::Fields members(data, std::move(path));
    members.list("PodDeviceEntries", [&out](const json::Value& value, std::string where) {
      return read_entry(value, std::move(where), out);
    });
    members.object("RegisteredDevices",
                   [&out](const json::Object& registered, const std::string&) -> Result<void> {
                     for (const auto& [resource, ids] : registered) out.registered.insert(resource);
                     return {};
                   });
    return members.done();
  });
  MNET_TRY_VOID(fields.done());
  return out;
}

std::vector<std::string> names_of_containers(const Checkpoint& checkpoint,
                                             const std::string& pod_uid) {
  std::set<std::string> names;
  for (const Checkpoint::Entry& entry : checkpoint.entries) {
    if (entry.pod_uid == pod_uid) names.insert(entry.container);
  }
  return {names.begin(), names.end()};
}

}  // namespace

Result<Checkpoint> parse_checkpoint(std::string_view text) {
  auto document = json::parse_object_without(kUnused, text, text.size());
  auto read = document ? read_checkpoint(*document) : Result<Checkpoint>(document.error());
  if (!read) return std::move(read).error().wrap("error unmarshalling raw bytes");
  return read;
}

Result<Checkpoint> load_checkpoint(const std::string& path) {
  auto text = sys::read_file(path, kMaxBytes);
  if (!text) return std::move(text).error().wrap("error reading file");
  auto read = parse_checkpoint(*text);
  if (!read) return std::move(read).error().wrap(path);
  return read;
}

bool needs_order(const Checkpoint& checkpoint, const std::string& pod_uid) {
  return names_of_containers(checkpoint, pod_uid).size() > 1;
}

Result<DeviceIds> devices_of(const Checkpoint& checkpoint, const std::string& pod_uid,
                             std::vector<std::string> containers) {
  if (pod_uid.empty()) return Error(Errc::kInvalid, "the UID of the pod cannot be empty");
  if (containers.empty()) containers = names_of_containers(checkpoint, pod_uid);
  DeviceIds out;
  for (const std::string& container : containers) {
    DeviceIds of_container;
    for (const Checkpoint::Entry& entry : checkpoint.entries) {
      if (entry.pod_uid != pod_uid || entry.container != container) continue;
      std::ranges::copy(entry.ids, std::back_inserter(of_container[entry.resource]));
    }
    for (auto& [resource, ids] : of_container) {
      std::ranges::sort(ids);
      if (!ids.empty()) std::ranges::move(ids, std::back_inserter(out[resource]));
    }
  }
  return out;
}

}  // namespace mnet::devices
