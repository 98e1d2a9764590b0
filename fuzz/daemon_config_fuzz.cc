// Any bytes as the daemon's configuration: what is accepted gives the same values when its own
// document is read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "daemon/config.h"
#include "json/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = mnet::daemon::parse_config(text);
  if (!config) return 0;
  if (config->max_request_bytes <= 0 || config->delegate_timeout.count() <= 0) std::abort();
  const auto again = mnet::daemon::parse_config(mnet::json::dump(config->document));
  if (!again || again->socket_dir != config->socket_dir) std::abort();
  return 0;
}
