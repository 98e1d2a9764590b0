#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/run.h"
#include "aio/task.h"
#include "attach/fake_ports.h"
#include "attach/resource_map.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "devices/devices.h"
#include "devices/proto_text.h"
#include "devices/resource_objects.h"
#include "groups.h"
#include "json/at.h"
#include "json/json.h"
#include "kube/objects.h"
#include "model/objects.h"
#include "sys/test_dir.h"

namespace mnet::vectors {
namespace {

using devices::DeviceIds;

json::Object resources_of(const DeviceIds& ids) {
  json::Object resources;
  for (const auto& [resource, all] : ids) {
    json::Array list;
    for (const std::string& id : all) list.emplace_back(id);
    resources.set(resource, std::move(list));
  }
  return json::Object{{"resources", std::move(resources)}};
}

Result<DeviceIds> ids_of(const json::Object& resources) {
  DeviceIds ids;
  for (const auto& [resource, all] : resources) {
    if (all.as_array() == nullptr) return Error(Errc::kBug, "broken case: resources");
    for (const json::Value& id : *all.as_array()) ids[resource].push_back(*id.as_string());
  }
  return ids;
}

std::string encode_container(const json::Object& container) {
  std::vector<devices::DevicesText> all;
  for (const json::Value& value : *container.find("devices")->as_array()) {
    devices::DevicesText& one = all.emplace_back();
    one.resource = json::text_at(*value.as_object(), {"resource_name"});
    for (const json::Value& id : *value.as_object()->find("device_ids")->as_array()) {
      one.ids.push_back(*id.as_string());
    }
  }
  return devices::container_text(json::text_at(container, {"name"}), all);
}

// As the kubelet would send it.
std::string encode_list(const json::Array& pods) {
  std::string out;
  for (const json::Value& pod : pods) {
    std::vector<std::string> containers;
    for (const json::Value& one : *pod.as_object()->find("containers")->as_array()) {
      containers.push_back(encode_container(*one.as_object()));
    }
    out += devices::pod_text(json::text_at(*pod.as_object(), {"namespace"}),
                             json::text_at(*pod.as_object(), {"name"}), containers);
  }
  return out;
}

Result<json::Object> kubelet(const json::Object& input) {
  MNET_TRY(auto&& pods, array_of(input, "pod_resources"));
  MNET_TRY(auto&& pod, object_of(input, "pod"));
  const devices::PodName name{json::text_at(pod, {"namespace"}), json::text_at(pod, {"name"})};
  MNET_TRY_VOID(devices::check_name(name));
  devices::PodResourcesReader reader({name});
  MNET_TRY_VOID(reader.feed(encode_list(pods)));
  MNET_TRY(auto&& listed, reader.finish());
  return resources_of(listed[name]);
}

Result<json::Object> checkpoint(const json::Object& input) {
  MNET_TRY(auto&& uid, text_of(input, "pod_uid"));
  MNET_TRY(auto&& file, value_of(input, "file"));
  const sys::TestDir dir;
  const std::string path =
      file.is_null() ? dir / "none" : dir.write("checkpoint", *file.as_string());
  MNET_TRY(auto&& read, devices::load_checkpoint(path));
  MNET_TRY(auto&& found, devices::devices_of(read, uid, {}));
  return resources_of(found);
}

// The API of one case.
class CaseObjects : public devices::ResourceObjects {
 public:
  CaseObjects(json::Array claims, json::Array slices)
      : claims_(std::move(claims)), slices_(std::move(slices)) {}

  aio::Task<std::optional<json::Object>> find_claim(std::string ns, std::string name) override {
    for (const json::Value& claim : claims_) {
      if (json::text_at(*claim.as_object(), {"metadata", "name"}) == name &&
          json::text_at(*claim.as_object(), {"metadata", "namespace"}) == ns) {
        co_return std::optional<json::Object>(*claim.as_object());
      }
    }
    co_return std::optional<json::Object>();
  }
  aio::Task<SlicePage> list_slices(std::string field_selector, std::string) override {
    SlicePage page;
    for (const json::Value& slice : slices_) {
      if (is_selected(*slice.as_object(), field_selector)) page.items.push_back(slice);
    }
    co_return page;
  }

 private:
  static bool is_selected(const json::Object& slice, std::string_view selector) {
    for (const std::string_view term : split(selector, ',')) {
      const std::size_t equals = term.find('=');
      const std::string_view key = term.substr(std::string_view("spec.").size(), equals - 5);
      if (json::text_at(slice, {"spec", key}) != term.substr(equals + 1)) return false;
    }
    return true;
  }

  const json::Array claims_, slices_;
};

Result<json::Object> dra(const json::Object& input) {
  MNET_TRY(auto&& object, object_of(input, "pod"));
  MNET_TRY(auto&& claims, array_of(input, "resource_claims"));
  MNET_TRY(auto&& slices, array_of(input, "resource_slices"));
  MNET_TRY(auto&& initial, object_of(input, "initial"));
  MNET_TRY(auto&& ids, ids_of(initial));
  MNET_TRY(auto&& pod, kube::parse_pod(object));
  MNET_TRY(auto&& named, devices::parse_pod_claims(pod.resource_claims));
  CaseObjects objects(std::move(claims), std::move(slices));
  boost::asio::io_context loop;
  devices::Slices listed(loop.get_executor(), objects, std::chrono::seconds(20), Log());
  devices::ClaimedDevices reader(objects, listed, pod.ns, pod.node_name, Log());
  const auto found = aio::run(loop, reader.add_to(std::move(ids), std::move(named)));
  MNET_TRY_VOID(aio::run(loop, listed.wait_ended(aio::kNoDeadline)));
  if (!found) return found.error();
  return resources_of(*found);
}

Result<json::Object> dra_selector(const json::Object& input) {
  MNET_TRY(auto&& node, text_of(input, "node"));
  MNET_TRY(auto&& driver, text_of(input, "driver"));
  return json::Object{{"field_selector", devices::slice_selector(node, driver)}};
}

aio::Task<json::Array> take_all(attach::ResourceMap* map, std::vector<std::string> resources) {
  json::Array ids;
  for (const std::string& resource : resources) {
    std::optional<std::string> taken;
    if (!resource.empty()) {
      MNET_CO_TRY(auto&& one, co_await map->take(resource, "network"));
      taken = std::move(one);
    }
    ids.emplace_back(taken.value_or(""));
  }
  co_return ids;
}

Result<json::Object> assign(const json::Object& input) {
  MNET_TRY(auto&& resources, object_of(input, "resources"));
  MNET_TRY(auto&& names, array_of(input, "resource_names"));
  attach::FakeDevices source;
  MNET_TRY(auto&& ids, ids_of(resources));
  source.ids = std::move(ids);
  std::vector<std::string> wanted;
  for (const json::Value& name : names) wanted.push_back(json::text_of(&name));
  const auto pod = std::make_shared<model::PodObject>();
  attach::ResourceMap map(&source, pod, "", Log());
  MNET_TRY(auto&& taken, aio::run(take_all(&map, std::move(wanted))));
  return json::Object{{"device_ids", std::move(taken)}};
}

}  // namespace

Group devices_group() {
  return {.name = "devices",
          .operations = {{"kubelet", kubelet},
                         {"checkpoint", checkpoint},
                         {"dra", dra},
                         {"dra-selector", dra_selector},
                         {"assign", assign}}};
}

}  // namespace mnet::vectors
