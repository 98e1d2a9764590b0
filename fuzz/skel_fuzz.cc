// Stdin of a plugin program: a defined error or the handler, and one JSON document on stdout.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cni/version.h"
#include "json/json.h"
#include "skel/skel.h"

using namespace mnet;

namespace {

std::optional<std::string> variable(std::string_view command, std::string_view name) {
  if (name == "CNI_COMMAND") return std::string(command);
  if (name == "CNI_CONTAINERID") return "c";
  if (name == "CNI_NETNS") return "/no/such/netns";
  if (name == "CNI_IFNAME") return "eth0";
  if (name == "CNI_PATH") return "/opt/cni/bin";
  return std::nullopt;
}

void run(std::string_view command, const std::string& text) {
  std::string out;
  bool was_called = false;
  const auto handler = [&](const skel::CmdArgs& args) -> Result<void> {
    was_called = true;
    if (args.stdin_data != text) std::abort();
    return {};
  };
  const skel::Plugin plugin{
      .add = handler, .check = handler, .gc = handler, .versions = cni::all_versions()};
  const skel::Front front{.env = [&](std::string_view name) { return variable(command, name); },
                          .read_stdin = [&]() -> Result<std::string> { return text; },
                          .write_stdout = [&](std::string_view bytes) -> Result<void> {
                            out += bytes;
                            return {};
                          },
                          .write_stderr = [](std::string_view) {}};
  const int exit = skel::run(plugin, front);
  const bool is_silent = out.empty();
  if (exit == 0 ? !was_called || !is_silent : was_called || !json::parse_object(out)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const char* command : {"ADD", "CHECK", "GC"}) run(command, text);
  return 0;
}
