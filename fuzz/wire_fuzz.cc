// Bodies from the socket: requests as the daemon reads them, answers as the shim does. What is
// accepted must come back the same when it is written again.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "json/json.h"
#include "wire/wire.h"

using namespace mnet;

namespace {

void read_as_request(std::string_view body) {
  const auto request = wire::parse_request(body);
  if (!request) return;
  const std::string text = wire::to_text(*request);
  const auto again = wire::parse_request(text);
  if (!again || wire::to_text(*again) != text || again->config != request->config) std::abort();

  if (const auto call = wire::extract_call(*request)) {
    if (wire::request_line(*call).empty()) std::abort();
    (void)wire::pod_identity(call->args, {.lenient = false, .required = true});
    (void)wire::pod_identity(call->args, {.lenient = true, .required = false});
  }
  const json::Object server{{"cniVersion", "1.0.0"}, {"readinessindicatorfile", "/r"}};
  const auto config = wire::parse_config(request->config);
  if (!config) return;
  for (const bool drops : {false, true}) {
    const std::string merged = json::dump(wire::overlay(*config, server, drops));
    if (!wire::parse_config(merged)) std::abort();
  }
}

void read_as_answer(std::string_view body) {
  const auto response = wire::parse_response(body);
  if (response && *response) {
    const auto written = wire::response_body(**response);
    if (written && !wire::parse_response(*written)) std::abort();
  }
  const Error error = wire::parse_error(400, body);
  if (error.origin() == nullptr) return;
  const Error back = wire::parse_error(400, wire::error_body(error).body);
  if (back.origin() == nullptr || back.origin()->code != error.origin()->code) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  read_as_request(body);
  read_as_answer(body);
  return 0;
}
