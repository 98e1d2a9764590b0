// The addresses of a host by name. A look-up cannot be stopped, but nobody has to wait for its end.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <functional>
#include <string>
#include <vector>

#include "aio/task.h"

namespace mnet::http {

using Addresses = std::vector<boost::asio::ip::address>;

// Blocks. Called on a thread of its own, perhaps after the one who asked has gone.
using Resolver = std::function<Result<Addresses>(const std::string& host)>;
// The system's: /etc/hosts, DNS and what else is configured.
Result<Addresses> resolve_host(const std::string& host);

// Numeric addresses are taken as they are. kUnavailable: there is no such name, or nobody to ask;
// kTimeout; kCancelled. The thread of a look-up that is waited for no longer is left to itself.
aio::Task<Addresses> look_up(std::string host, aio::Deadline deadline,
                             Resolver resolver = resolve_host);

}  // namespace mnet::http
