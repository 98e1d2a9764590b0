// For tests: writes protobuf messages, field by field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mnet::devices {

inline std::string varint(std::uint64_t number) {
  std::string out;
  for (; number >= 0x80; number >>= 7) out += static_cast<char>((number & 0x7f) | 0x80);
  return out + static_cast<char>(number);
}
inline std::string field(std::uint32_t number, std::string_view bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}

struct DevicesText {
  std::string resource;
  std::vector<std::string> ids;
};
// ContainerDevices
inline std::string devices_text(const DevicesText& devices) {
  std::string out = field(1, devices.resource);
  for (const std::string& id : devices.ids) out += field(2, id);
  return out + field(3, field(1, varint(1 << 3) + varint(1)));  // topology
}
// ContainerResources
inline std::string container_text(std::string_view name, const std::vector<DevicesText>& devices) {
  std::string out = field(1, name);
  for (const DevicesText& one : devices) out += field(2, devices_text(one));
  return out + varint(3 << 3) + varint(300);  // a CPU
}
// ListPodResourcesResponse's one pod
inline std::string pod_text(std::string_view ns, std::string_view name,
                            const std::vector<std::string>& containers) {
  std::string out = field(1, name) + field(2, ns);
  for (const std::string& container : containers) out += field(3, container);
  return field(1, out);
}

}  // namespace mnet::devices
