// The attachment record of one container (05, 3.2): what was attached, on whose request, with which
// configuration and which result. It adds to scratch file and result cache and replaces neither:
// one that is missing or damaged makes nothing fail. Text to values and back; where the file lies
// is the records port's business.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cni/args.h"
#include "json/json.h"
#include "model/delegate.h"

namespace mnet::model {

enum class AttachmentState : std::uint8_t { kAdding, kAttached, kRemoving };
enum class RecordState : std::uint8_t { kCreating, kReady, kDeleting };

struct RecordedAttachment {
  Source source = Source::kCluster;
  std::string network;   // of the delegate: `<ns>/<nad>` or the CNI name
  std::string cni_name;  // of its configuration
  std::string ifname;
  bool auto_name = false;   // the pod named no interface
  json::Object attributes;  // what the pod or the client requested: ips, mac, cni-args and so on
  std::string config_hash;  // `sha256:…` of the configuration before any injection, canonical
  std::string device_id, resource_name;
  json::Object config;  // as given to the plugins
  json::Object capability_args;
  std::optional<json::Value> result;
  AttachmentState state = AttachmentState::kAdding;
  std::string added_at;  // RFC 3339
  // Of its link in the container's namespace, under whatever name it goes by now; 0: not known.
  std::uint64_t link_index = 0;
};

// Entries of the network status whose attachment has gone.
struct StaleStatus {
  std::string network;
  std::vector<std::string> ifnames;
};

// The member of a record whose network status is not written yet.
inline constexpr std::string_view kStatusOwed = "statusOwed";

struct AttachmentRecord {
  std::string container_id, netns;
  std::uint64_t netns_inode = 0;
  std::string boot_id;
  std::string pod_ns, pod_name, pod_uid;
  bool is_static = false;
  cni::ArgPairs cni_args;
  std::string cni_path;  // where the request said that plugins are
  RecordState state = RecordState::kCreating;
  // By annotation something was attached or removed, and the network status does not say so yet.
  bool status_behind = false;
  std::vector<StaleStatus> stale_statuses;  // likewise: what it must not say any more
  bool status_owed = false;  // ADD has answered, and the network status is yet to be written
  // Of `deleting`: a pending DEL is to end it (03, 2.14), which was given up if its file is gone.
  bool is_pending = false;
  std::vector<RecordedAttachment> attachments;  // in the order they were attached

  RecordedAttachment* find(std::string_view ifname);
  const RecordedAttachment* find(std::string_view ifname) const;
};

json::Object encode_record(AttachmentRecord record);
// Members of the wrong type, another version, unknown states: kProtocol.
Result<AttachmentRecord> decode_record(const json::Object& object);

// `sha256:<hex>` of the canonical JSON (members sorted, numbers as written) of a configuration that
// has its name. A `cniVersion` that is missing or empty counts as 0.1.0.
std::string config_hash(const json::Object& config);

}  // namespace mnet::model
