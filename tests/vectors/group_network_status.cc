#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/try.h"
#include "cni/result.h"
#include "groups.h"
#include "json/fields.h"
#include "json/json.h"
#include "model/network_status.h"

namespace mnet::vectors {
namespace {

Result<json::Object> create(const json::Object& input) {
  MNET_TRY(auto&& result, value_of(input, "result"));
  MNET_TRY(auto&& name, text_of(input, "network_name"));
  MNET_TRY(auto&& is_default, value_of(input, "default"));
  std::optional<json::Object> device_info;
  if (const json::Value* info = input.find("device_info");
      info != nullptr && info->as_object() != nullptr) {
    device_info = *info->as_object();
  }
  MNET_TRY(auto&& read, cni::read_result(result));
  MNET_TRY(auto&& statuses,
           model::network_statuses(read, name, *is_default.as_bool(), device_info));
  json::Array out;
  for (const model::NetworkStatus& status : statuses) out.emplace_back(model::to_json(status));
  return json::Object{{"statuses", std::move(out)}};
}

Result<model::NetworkStatus> read_status(const json::Value& value) {
  if (value.as_object() == nullptr) return Error(Errc::kBug, "broken case: statuses");
  model::NetworkStatus status;
  model::SharedStatus shared;
  json::Fields fields(*value.as_object());
  fields.read("name", status.name);
  fields.read("interface", status.interface);
  fields.read("ips", status.ips);
  fields.read("mac", status.mac);
  fields.read("mtu", status.mtu);
  fields.read("default", status.is_default);
  fields.read("gateway", shared.gateways);
  fields.object("dns", [&](const json::Object& object, std::string path) {
    json::Fields dns(object, std::move(path));
    dns.read("nameservers", shared.dns.nameservers);
    dns.read("domain", shared.dns.domain);
    dns.read("search", shared.dns.search);
    dns.read("options", shared.dns.options);
    return dns.done();
  });
  if (const json::Value* info = fields.find("device-info")) shared.device_info = *info->as_object();
  if (auto done = fields.done(); !done)
    return Error(Errc::kBug, "broken case: " + done.error().text());
  status.shared = std::make_shared<const model::SharedStatus>(std::move(shared));
  return status;
}

Result<json::Object> annotation(const json::Object& input) {
  MNET_TRY(auto&& statuses, array_of(input, "statuses"));
  std::vector<model::NetworkStatus> all;
  for (const json::Value& value : statuses) {
    MNET_TRY(auto&& status, read_status(value));
    all.push_back(std::move(status));
  }
  return json::Object{{"annotation", model::status_text(all).text()}};
}

}  // namespace

Group network_status_group() {
  return {.name = "network-status", .operations = {{"create", create}, {"annotation", annotation}}};
}

}  // namespace mnet::vectors
