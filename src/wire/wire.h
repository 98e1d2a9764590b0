// The messages between shim and daemon (03, 2.8 to 2.10 and 3.4, 3.5), and what an Error looks like
// on the way. Pure text to value and back; knows no sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cni/args.h"
#include "cni/result.h"
#include "json/json.h"

namespace mnet::wire {

struct InterfaceAttributes {
  std::vector<std::string> ips;
  std::string mac;
  std::optional<json::Object> cni_args;
};

// Body of POST /cni and POST /delegate.
struct Request {
  std::vector<std::pair<std::string, std::string>> env;
  std::string config;  // stdin of the shim, byte for byte
  std::optional<InterfaceAttributes> attributes;

  const std::string* find_env(std::string_view name) const;
};

// Upstream's order: `env` sorted by name (the first of equal names counts), `config` in base64,
// then `interfaceAttributes`; absent when empty. Bytes that are not UTF-8 become U+FFFD.
std::string to_text(const Request& request);
// Accepts all that 03, 2.8 lists: any letter case, `config` as base64, byte array or object, the
// aliases of older documents. `null` is the empty request.
Result<Request> parse_request(std::string_view body);

// What a client of POST /delegate sends (03, 2.10).
struct DelegateCall {
  std::string command;  // in any letter case
  std::string container_id, netns, ifname;
  std::string pod_namespace, pod_name, pod_uid;
};
Request delegate_request(const DelegateCall& call, std::string config,
                         std::optional<InterfaceAttributes> attributes);

// What a request asks for, after the checks of 03, 2.9 steps 2 and 3 (`could not extract the CNI
// command args: …`). Commands are not checked: an unknown one is refused later. Of GC and STATUS
// only command and path are filled in.
struct Call {
  std::string command;
  std::string container_id, netns, ifname, args, path;
};

// The body of the DEL of `call`, for /cni: what a pending DEL is recorded as (03, 2.14).
std::string pending_del_body(const Call& call, const std::string& config);
Result<Call> extract_call(const Request& request);

// The daemon's own configuration as `overlay` wants it; not an object: `failed to unmarshall
// CNI override config: …`.
Result<json::Object> parse_server_config(std::string_view text);
// The request's; not an object: `failed to unmarshall CNI config: …`. Both limits are of values at
// every depth, counted before anything is built: a configuration is a string of its request, and
// that of a GC lists all attachments of the node.
inline constexpr std::size_t kMostRequestValues = 20'000, kMostConfigValues = 100'000;
Result<json::Object> parse_config(std::string_view text);
// The request's configuration with the daemon's laid over it (03, 2.9 step 4). Numbers stay as they
// are written.
json::Object overlay(json::Object config, const json::Object& server_config,
                     bool drop_readiness_indicator);

// The pod that CNI_ARGS names (03, 2.9 step 5). `lenient` (DEL): bad parts are skipped and named in
// `skipped`, for the log; `required`: namespace and name must be there (with objectsDir they need
// not).
struct PodIdentity {
  std::string ns, name, uid, infra_container_id;
  cni::ArgPairs pairs;  // all of CNI_ARGS, without the white space around them (03-F22)
  std::vector<std::string> skipped;
};
struct PodRules {
  bool lenient = false;
  bool required = true;
};
Result<PodIdentity> pod_identity(std::string_view args, PodRules rules);
// What to answer when CNI_ARGS names no UID and the pod cannot be looked up either.
Error missing_pod_uid(const Error& why);

// `ContainerID:"…" Netns:"…" IfName:"…" Args:"…" Path:"…"`: heads errors and log lines of a
// request.
std::string request_line(const Call& call);

// Body of a successful ADD: {"Result":{…}} in 1.1.0, members sorted, no newline.
Result<std::string> response_body(const cni::NetResult& result);
// The result in such a body, in any letter case of `result`; none if it is absent, null or the body
// is empty. `failed to unmarshal response '<body>': …`
Result<std::optional<cni::NetResult>> parse_response(std::string_view body);

// How an error travels: JSON when a CNI error object is inside, else one line of text (03, 2.8).
// Never an empty msg. The msg is the whole text, what was wrapped around the object included.
struct ErrorBody {
  std::string content_type;
  std::string body;
};
ErrorBody error_body(const Error& error);
// What the shim makes of an answer that is not 200: the error object, or `CNI request failed with
// status <n>: '<body>'` (no object inside, so code 999).
Error parse_error(int status, std::string_view body);

inline constexpr std::string_view kDefaultCniDir = "/var/lib/cni/multus";
inline constexpr std::string_view kDefaultSocketDir = "/run/multus/";
// <dir>/multus.sock, lexically clean; empty means the default directory.
std::string socket_path(std::string_view socket_dir);

// 16 hex digits (00-index, "Request id"), and the header and variable that carry it.
inline constexpr std::string_view kRequestIdHeader = "X-Request-Id";
inline constexpr std::string_view kRequestIdVariable = "MULTUS_REQUEST_ID";
bool is_request_id(std::string_view text);
std::string request_id(std::uint64_t random);

}  // namespace mnet::wire
