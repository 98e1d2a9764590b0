#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/integer.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "multusctl/commands.h"
#include "multusctl/invocation.h"
#include "multusctl/print.h"
#include "multusctl/run_commands.h"
#include "multusctl/trial/echo.h"
#include "multusctl/trial/reachability.h"
#include "sys/environment.h"

namespace mnet::multusctl {
namespace {

constexpr std::chrono::milliseconds kPatienceOfArp{700};

Result<std::uint16_t> port_of(const Invocation& invocation) {
  const std::string text = invocation.text("port");
  if (text.empty()) return kEchoPort;
  const auto port = parse_integer<std::uint16_t>(text).value_or(0);
  if (port == 0) {
    return Error(Errc::kInvalid, cat("--port ", excerpt(text), ": expected a number, 1 to 65535"));
  }
  return port;
}

// `unasked`: why it is not known. An interface without ARP has no such stations.
json::Array duplicates_of(const std::string& interface, std::string& unasked) {
  json::Array out;
  if (interface.empty()) return out;
  const auto found = find_duplicates(interface, kPatienceOfArp);
  if (!found && found.error().code() == Errc::kDenied) unasked = found.error().text();
  if (!found) return out;
  for (const Duplicate& one : *found) {
    out.push_back(json::Object{{"address", one.address}, {"mac", one.mac}});
  }
  return out;
}

Result<json::Object> send(const Invocation& invocation, std::uint16_t port) {
  MNET_TRY(const auto& patience, seconds_of(invocation, "timeout", std::chrono::seconds(1)));
  const std::string interface = invocation.text("interface");
  std::string unasked;
  json::Array duplicates = duplicates_of(interface, unasked);
  json::Array targets;
  const std::string addresses = invocation.text("to");
  for (const std::string_view address : split(addresses, ',')) {
    const EchoTarget target{.address = std::string(trim(address)),
                            .interface = interface,
                            .port = port,
                            .patience = patience};
    targets.push_back(to_json(target.address, send_echoes(target)));
  }
  return json::Object{{"version", 1},
                      {"interface", interface},
                      {"duplicates", std::move(duplicates)},
                      {"unasked", std::move(unasked)},
                      {"targets", std::move(targets)}};
}

}  // namespace

int run_probe(const Invocation& invocation, Surroundings& surroundings) {
  const auto port = port_of(invocation);
  if (!port) {
    surroundings.output.complain("probe", port.error().text());
    return 2;
  }
  const auto done = [&]() -> Result<int> {
    if (invocation.text("to").empty()) {
      MNET_TRY_VOID(answer_echoes(*port, sys::variable(surroundings.environment, "HOSTNAME")));
      return 0;
    }
    MNET_TRY(const auto& sent, send(invocation, *port));
    return print_value(sent, invocation, surroundings);
  }();
  return exit_status(done, invocation, surroundings);
}

}  // namespace mnet::multusctl
