// The key `perNodeCertificate` of the configuration (03, 8.1).
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "base/log.h"
#include "certs/certs.h"
#include "daemon/config.h"

namespace mnet::daemon {

// A certificate that was renewed is in use after this time at the latest (03, 5.1).
inline constexpr std::chrono::seconds kReread{10};

// nullptr if it is not there or not enabled. The error names the key. The pool must outlive it.
Result<std::unique_ptr<certs::NodeCertificate>> make_certificate(
    const aio::asio::any_io_executor& executor, const Config& config,
    const std::vector<std::string>& environment, aio::BlockingPool& pool, const Log& log);

}  // namespace mnet::daemon
