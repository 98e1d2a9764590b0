// Reaching a server through a proxy: which one the environment names, and the ways through it.
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

// The proxy for `target` by HTTPS_PROXY or HTTP_PROXY and NO_PROXY, upper case before lower case,
// as Go's programs read them: never for localhost and loopback addresses.
Result<std::optional<Url>> proxy_of_environment(const Url& target,
                                                const std::vector<std::string>& environment);

// A connection on which the next byte reaches the target. `tls` is for a proxy that is spoken to
// in TLS itself. For a plain http target behind an http(s) proxy it is the proxy's own: requests
// then name the whole URL.
aio::Task<ByteStreamPtr> connect_through(Url proxy, TlsContextPtr tls, Url target,
                                         aio::Deadline deadline);

// Whether requests to `target` through `proxy` name the whole URL, and not a path.
bool needs_absolute_form(const Url& proxy, const Url& target);
// The value of Proxy-Authorization; empty: none needed.
std::string proxy_authorization(const Url& proxy);

}  // namespace mnet::http
