// The annotation `k8s.v1.cni.cncf.io/network-status`: what a pod's networks gave it (02, 2.4).
// Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cni/result.h"
#include "json/json.h"

namespace mnet::model {

// What the entries of one network have in common.
struct SharedStatus {
  cni::Dns dns;
  std::optional<json::Object> device_info;
  std::vector<std::string> gateways;
};

// A new text also counts in longest_text().
struct NetworkStatus {
  std::string name;  // of the delegate
  std::string interface;
  std::vector<std::string> ips;
  std::string mac;
  std::int64_t mtu = 0;
  bool is_default = false;
  // Not a copy for each: a result may list thousands of interfaces and have long DNS settings. None
  // is as good as an empty one.
  std::shared_ptr<const SharedStatus> shared;
};

// One per interface in the sandbox; a result that lists no interface but addresses has one without
// a name.
Result<std::vector<NetworkStatus>> network_statuses(const cni::NetResult& result,
                                                    std::string_view delegate_name, bool is_master,
                                                    const std::optional<json::Object>& device_info);

json::Object to_json(const NetworkStatus& status);

// The API server takes 256 KiB for all annotations of an object: a quarter is left to the others.
inline constexpr std::size_t kMaxStatusText = 192u << 10;

// The text of the annotation, byte for byte as the original writes it. It never exceeds
// kMaxStatusText: from the first entry on that does not fit, entries lack `dns`, `device-info` and
// `gateway`, which repeat in each entry of a network; one that does not fit even so is left out.
class StatusText {
 public:
  void add(const NetworkStatus& status);
  void add_entry(const json::Value& entry);  // one that is there already, unchanged

  std::string text() const { return text_ + "]"; }
  // What is missing, for people; empty if nothing is.
  std::string shortcomings() const;

 private:
  bool append(const std::string& entry);

  std::string text_ = "[";
  bool is_short_ = false;
  std::size_t shortened_ = 0, left_out_ = 0;
};
StatusText status_text(const std::vector<NetworkStatus>& statuses);
// A bound of its length, without making it.
std::size_t longest_text(const std::vector<NetworkStatus>& statuses);

}  // namespace mnet::model
