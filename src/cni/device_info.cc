#include "cni/device_info.h"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/try.h"
#include "json/fields.h"
#include "json/json.h"

namespace mnet::cni {
namespace {

constexpr std::array<std::string_view, 2> kTop = {"type", "version"};
constexpr std::array<std::string_view, 5> kPci = {"pci-address", "vhost-net", "rdma-device",
                                                  "pf-pci-address", "representor-device"};
constexpr std::array<std::string_view, 6> kVdpa = {
    "parent-device", "driver", "path", "pci-address", "pf-pci-address", "representor-device"};
constexpr std::array<std::string_view, 2> kVhostUser = {"mode", "path"};
constexpr std::array<std::string_view, 3> kMemif = {"role", "path", "mode"};

struct Part {
  std::string_view key;
  std::span<const std::string_view> members;
};
constexpr std::array<Part, 4> kParts = {
    {{"pci", kPci}, {"vdpa", kVdpa}, {"vhost-user", kVhostUser}, {"memif", kMemif}}};

void read_texts(json::Fields& fields, std::span<const std::string_view> keys, json::Object& out) {
  for (const std::string_view key : keys) {
    std::string text;
    fields.read(key, text);
    if (!text.empty()) out.append(std::string(key), std::move(text));
  }
}

}  // namespace

Result<json::Object> parse_device_info(std::string_view text) {
  MNET_TRY(const auto& document, json::parse_object(text));
  json::Object info;
  json::Fields fields(document);
  read_texts(fields, kTop, info);
  for (const Part& part : kParts) {
    fields.object(part.key, [&](const json::Object& object, std::string path) -> Result<void> {
      json::Object known;
      json::Fields inside(object, std::move(path));
      read_texts(inside, part.members, known);
      MNET_TRY_VOID(inside.done());
      info.append(std::string(part.key), std::move(known));
      return {};
    });
  }
  MNET_TRY_VOID(fields.done());
  return info;
}

}  // namespace mnet::cni
