// How the items of a node compare with what was installed or is asked for: the commands `status`
// and `verify` (04, 1.14).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cni_node/command.h"
#include "cni_node/files.h"
#include "ledger/ledger.h"

namespace mnet::cni_node {

struct ItemReport {
  enum class State : std::uint8_t { kPresent, kChanged, kMissing, kForeign };
  std::string kind, name, path;
  State state = State::kMissing;
  std::string sha256 = {};   // of what is there
  std::string asked = {};    // SHA-256 that it should have; empty: not known
  std::string version = {};  // where it is known
  std::string why = {};      // of what cannot be told
};

// What cni-node installed, compared with what it wrote; the given lists only, if there are any.
std::vector<ItemReport> report_status(const Command& command, const Files& files,
                                      const ledger::Ledger& ledger);
// What is asked for, compared with the image: the given lists, else those of the ledger's `watch`.
std::vector<ItemReport> report_verification(const Command& command, const Files& files,
                                            const ledger::Ledger& ledger);

// A line for each item, or JSON.
std::string text_of(const std::vector<ItemReport>& items);
std::string json_of(const std::vector<ItemReport>& items);

// The plugins of the image, in the same two forms.
Result<std::string> list_plugins(const Command& command);

}  // namespace mnet::cni_node
