#include "inputs.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/command_line.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/args.h"
#include "json/json.h"

namespace mnet::cnitool {
namespace {

constexpr std::array<std::string_view, 6> kCommands = {"add", "check",  "del",
                                                       "gc",  "status", "validate"};
constexpr std::size_t kIdBytes = 10;

Result<std::string> absolute(const std::string& path) {
  std::error_code failure;
  const std::filesystem::path made = std::filesystem::absolute(path, failure);
  if (failure) return Error::from_errno(failure.value(), cat("absolute path of ", go_quoted(path)));
  return clean_path(made.native());
}

Result<std::string> container_id_of(std::string_view netns) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  if (EVP_Digest(netns.data(), netns.size(), digest.data(), nullptr, EVP_sha512(), nullptr) != 1) {
    return Error(Errc::kBug, "no SHA-512");
  }
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string id = "cnitool-";
  for (std::size_t i = 0; i < kIdBytes; ++i) {
    id += kDigits[digest[i] >> 4];
    id += kDigits[digest[i] & 15];
  }
  return id;
}

// Stricter than plugins are: exactly one `=`, and something on both sides of it.
Result<cni::ArgPairs> parse_pairs(std::string_view text) {
  cni::ArgPairs pairs;
  if (text.empty()) return pairs;
  for (const std::string_view pair : split(text, ';')) {
    const std::vector<std::string_view> sides = split(pair, '=');
    if (sides.size() != 2 || sides[0].empty() || sides[1].empty()) {
      return Error(Errc::kInvalid, cat("invalid CNI_ARGS pair ", go_quoted(pair)));
    }
    pairs.emplace_back(sides[0], sides[1]);
  }
  return pairs;
}

Result<json::Object> parse_capability_args(std::string_view text) {
  if (text.empty()) return json::Object();
  auto object = json::parse_object(text);
  if (!object) return std::move(object).error().wrap("CAP_ARGS");
  return object;
}

std::vector<std::string> directories(std::string_view path) {
  if (path.empty()) return {};
  const std::vector<std::string_view> parts = split(path, ':');
  return {parts.begin(), parts.end()};
}

}  // namespace

std::string usage() {
  return "Usage: cnitool add|check|del|gc|status|validate [-i|--ifname NAME] <network> <netns>\n"
         "Environment: NETCONFPATH, CNI_PATH, CNI_ARGS, CAP_ARGS, CNI_IFNAME\n";
}

Result<CommandLine> parse_command_line(std::vector<std::string> words) {
  CommandLine line;
  std::vector<std::string> named;
  while (!words.empty()) {
    GoFlags flags("cnitool", "");
    flags.add("i", &line.ifname, "name of the interface");
    flags.add("ifname", &line.ifname, "name of the interface");
    MNET_TRY(auto&& outcome, flags.parse(words));
    line.wants_help = line.wants_help || outcome == GoFlags::Outcome::kHelp;
    words = flags.rest();
    if (words.empty()) break;
    named.push_back(words.front());
    words.erase(words.begin());
  }
  line.wants_help = line.wants_help || (!named.empty() && named[0] == "help");
  if (line.wants_help) return line;
  if (!named.empty() && std::ranges::find(kCommands, named[0]) == kCommands.end()) {
    return Error(Errc::kInvalid, cat("unknown command ", go_quoted(named[0]), " for \"cnitool\""));
  }
  if (named.size() < 3) return Error(Errc::kInvalid, "a command, a network and a netns are needed");
  line.command = named[0];
  line.network = named[1];
  line.netns = named[2];
  return line;
}

Result<Inputs> read_inputs(const CommandLine& line, const Variable& variable) {
  const auto value_or = [&variable](std::string_view name, std::string fallback) {
    auto value = variable(name).value_or("");
    return value.empty() ? fallback : value;
  };
  MNET_TRY(auto&& netns, absolute(line.netns));
  MNET_TRY(auto&& id, container_id_of(netns));
  MNET_TRY(auto&& capability_args, parse_capability_args(value_or("CAP_ARGS", "")));
  MNET_TRY(auto&& args, parse_pairs(value_or("CNI_ARGS", "")));

  Inputs inputs;
  inputs.command = line.command;
  inputs.network = line.network;
  inputs.conf_dir = value_or("NETCONFPATH", "/etc/cni/net.d");
  inputs.container_id = std::move(id);
  inputs.netns = std::move(netns);
  inputs.ifname = line.ifname.empty() ? value_or("CNI_IFNAME", "eth0") : line.ifname;
  inputs.dirs = directories(value_or("CNI_PATH", ""));
  inputs.args = std::move(args);
  inputs.capability_args = std::move(capability_args);
  return inputs;
}

}  // namespace mnet::cnitool
