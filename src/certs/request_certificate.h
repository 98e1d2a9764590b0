// One request for a certificate, from the new key to the pair that was issued (03, 8.1). Knows
// neither the approver nor the signer, nor when to ask again.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "aio/task.h"
#include "base/log.h"
#include "certs/signing_request.h"
#include "certs/x509.h"
#include "kube/api.h"
#include "kube/reflector.h"

namespace mnet::certs {

// A request that lies on the server, and the key that it is for.
struct Asked {
  std::string name = {}, uid = {};
  std::string key = {};
};

// kDenied: the server refused us (401, 403), or we do not trust it.
aio::Task<Asked> create_request(std::shared_ptr<kube::Api> api, Subject subject,
                                std::chrono::seconds duration, aio::Deadline deadline);

struct WaitSettings {
  std::chrono::milliseconds patience = std::chrono::minutes(15);
  std::chrono::milliseconds report = std::chrono::seconds(30);  // how often `on_wait` is called
  kube::ReflectorSettings watch = {};                           // path and selector are ours
};

// Follows that one object until the certificate is there. kDenied if the request was denied or
// failed; another error if it is gone or is another one by now, and kTimeout. `on_wait` gets what
// is waited for, for people, and says whether to go on; cancelling forgets the request.
aio::Task<Pair> wait_issued(std::shared_ptr<kube::Api> api, Asked asked, WaitSettings settings,
                            std::function<bool(const std::string&)> on_wait, Log log);

}  // namespace mnet::certs
