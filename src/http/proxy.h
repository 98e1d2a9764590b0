// Reaches a server through a proxy: which proxy the environment names, and how to go through it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aio/task.h"
#include "http/byte_stream.h"
#include "http/tls.h"
#include "http/url.h"

namespace mnet::http {

// `http`, `https` or `socks5`; without a scheme it is `http`.
Result<Url> parse_proxy(std::string_view text);

// The proxy for `target` according to HTTPS_PROXY or HTTP_PROXY and NO_PROXY, which are read as
// Go's programs read them: upper case before lower case, and never a proxy for localhost and
// loopback addresses.
Result<std::optional<Url>> proxy_of_environment(const Url& target,
                                                const std::vector<std::string>& environment);

// A connection whose next byte reaches the target. `tls` is for the connection to an https proxy.
// For an http target and an http or https proxy it is a connection to the proxy itself: requests
// then name the whole URL.
aio::Task<ByteStreamPtr> connect_through(Url proxy, TlsContextPtr tls, Url target,
                                         aio::Deadline deadline);

// Whether requests to `target` through `proxy` must name the whole URL instead of a path.
bool needs_absolute_form(const Url& proxy, const Url& target);
// The value of the header Proxy-Authorization; empty if none is needed.
std::string proxy_authorization(const Url& proxy);

}  // namespace mnet::http
