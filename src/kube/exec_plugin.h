// Runs an exec credential plugin (client.authentication.k8s.io) and reads what it says. Never
// interactive: its stdin is closed.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aio/task.h"
#include "kube/config.h"

namespace mnet::kube {

struct ExecCredential {
  std::string token = {};
  std::string certificate = {}, key = {};  // PEM; both or none
  // When to ask again; none: when the server refuses it.
  std::optional<std::chrono::system_clock::time_point> expires = {};
};

// The `ExecCredential` that a plugin prints. It must have a token or a certificate.
Result<ExecCredential> parse_exec_credential(std::string_view text);
// `2026-08-20T15:39:05Z`, with fractions and offsets; none if it is not such a time.
std::optional<std::chrono::system_clock::time_point> parse_rfc3339(std::string_view text);

// `ca` is what `config.ca` holds. Cancelling, or passing the deadline, ends the program.
aio::Task<ExecCredential> run_exec_plugin(Config config, std::string ca,
                                          std::vector<std::string> environment,
                                          aio::Deadline deadline);

}  // namespace mnet::kube
