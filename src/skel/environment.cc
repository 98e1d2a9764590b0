#include "skel/environment.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/error.h"
#include "cni/names.h"
#include "skel/skel.h"

namespace mnet::skel {
namespace {

// Which commands require a variable.
enum Commands : std::uint8_t { kNone = 0, kAdd = 1, kCheck = 2, kDel = 4, kGc = 8, kStatus = 16 };

struct Variable {
  std::string_view name;
  unsigned required_by;
  std::string CmdArgs::* slot;
  Result<void> (*check)(std::string_view);
};

constexpr std::array<Variable, 6> kVariables = {{
    {"CNI_CONTAINERID", kAdd | kCheck | kDel, &CmdArgs::container_id, cni::validate_container_id},
    {"CNI_NETNS", kAdd | kCheck, &CmdArgs::netns, nullptr},
    {"CNI_IFNAME", kAdd | kCheck | kDel, &CmdArgs::ifname, cni::validate_ifname},
    {"CNI_ARGS", kNone, &CmdArgs::args, nullptr},
    {"CNI_PATH", kAdd | kCheck | kDel | kGc | kStatus, &CmdArgs::path, nullptr},
    {"CNI_NETNS_OVERRIDE", kNone, &CmdArgs::netns_override, nullptr},
}};

unsigned bit_of(std::string_view command) {
  if (command == "ADD") return kAdd;
  if (command == "CHECK") return kCheck;
  if (command == "DEL") return kDel;
  if (command == "GC") return kGc;
  if (command == "STATUS") return kStatus;
  return kNone;
}

}  // namespace

Result<Environment> read_environment(const Front& front) {
  Environment out;
  std::vector<std::string> missing;
  out.command = front.env("CNI_COMMAND").value_or("");
  if (out.command.empty()) missing.emplace_back("CNI_COMMAND");
  const unsigned command = bit_of(out.command);
  for (const Variable& variable : kVariables) {
    std::string& value = out.args.*variable.slot;
    value = front.env(variable.name).value_or("");
    if ((variable.required_by & command) == 0) continue;
    if (value.empty()) {
      missing.emplace_back(variable.name);
    } else if (variable.check != nullptr) {
      MNET_TRY_VOID(variable.check(value));
    }
  }
  if (missing.empty()) return out;
  return cni::coded(cni::Code::kInvalidEnvironment,
                    cat("required env variables [", join(missing, ","), "] missing"));
}

}  // namespace mnet::skel
