// What the kubelet's PodResources v1 answers mean (02, 8.2): devices of pods, and what the node
// offers. Pure: bytes in, values out.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "devices/proto_stream.h"

namespace mnet::devices {

// Ids by resource name, in the order in which networks take them (02, 8.1).
using DeviceIds = std::map<std::string, std::vector<std::string>>;

// Limits for what one answer may make us keep: of devices, and of bytes of their names.
inline constexpr std::size_t kMostDevices = 65'536;
inline constexpr std::size_t kMostBytes = 4u << 20;

struct PodName {
  std::string ns, name;
  friend auto operator<=>(const PodName&, const PodName&) = default;
};

// `Pod name or namespace cannot be empty`.
Result<void> check_name(const PodName& pod);

// Reads the answer of List and keeps the devices of the wanted pods.
class PodResourcesReader : private ProtoVisitor {
 public:
  explicit PodResourcesReader(std::set<PodName> wanted) : wanted_(std::move(wanted)) {}
  PodResourcesReader(const PodResourcesReader&) = delete;
  PodResourcesReader& operator=(const PodResourcesReader&) = delete;

  Result<void> feed(std::string_view bytes) { return stream_.feed(bytes); }
  // Pods that were listed with devices; a pod that was not listed has none.
  Result<std::map<PodName, DeviceIds>> finish();

 private:
  FieldUse use(FieldPath path) override;
  Result<void> text(FieldPath path, std::string text) override;
  void end(FieldPath path) override;
  bool is_unwanted() const;

  ProtoStream stream_{*this};
  const std::set<PodName> wanted_;
  std::map<PodName, DeviceIds> found_;
  std::size_t kept_ = 0, kept_bytes_ = 0;
  // For the pod that is being read. Its name may come after its containers.
  PodName pod_;
  DeviceIds of_pod_, of_container_;
  std::size_t of_pod_count_ = 0, of_pod_bytes_ = 0;
  std::string resource_;
  std::vector<std::string> ids_;
};

// How many devices of each resource the node offers.
using Offer = std::map<std::string, std::size_t>;

// Reads the answer of GetAllocatableResources.
class AllocatableReader : private ProtoVisitor {
 public:
  AllocatableReader() = default;
  AllocatableReader(const AllocatableReader&) = delete;
  AllocatableReader& operator=(const AllocatableReader&) = delete;

  Result<void> feed(std::string_view bytes) { return stream_.feed(bytes); }
  Result<Offer> finish();

 private:
  FieldUse use(FieldPath path) override;
  Result<void> text(FieldPath path, std::string text) override;
  void end(FieldPath path) override;

  ProtoStream stream_{*this};
  Offer offer_;
  std::size_t kept_bytes_ = 0;
  std::string resource_;
  std::size_t count_ = 0;
};

}  // namespace mnet::devices
