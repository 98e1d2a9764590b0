// Finds the addresses of a host name. A look-up cannot be stopped, but the caller need not wait for
// its end.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <functional>
#include <string>
#include <vector>

#include "aio/task.h"

namespace mnet::http {

using Addresses = std::vector<boost::asio::ip::address>;

// Blocks. Runs on a thread of its own and may outlive the task that asked.
using Resolver = std::function<Result<Addresses>(const std::string& host)>;
// The system's resolver: /etc/hosts, DNS and what else is configured.
Result<Addresses> resolve_host(const std::string& host);

// Numeric addresses are returned without a look-up. kUnavailable: there is no such name, or no
// server answers; kTimeout; kCancelled. After a kTimeout or
// kCancelled the thread still finishes; its result is dropped.
aio::Task<Addresses> look_up(std::string host, aio::Deadline deadline,
                             Resolver resolver = resolve_host);

}  // namespace mnet::http
