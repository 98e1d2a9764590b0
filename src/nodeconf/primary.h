// The primary network's CNI configuration: which file it is, whether it can be used, what it says
// (03, 6.1, 6.2 and 6.5; thin mode 9.2). Knows nothing of what is made from it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cni/version.h"
#include "json/json.h"

namespace mnet::nodeconf {

// Names that begin so are our own output (thin mode skips only `00-multus.conf*`).
inline constexpr std::string_view kOwnPrefix = "00-multus";

struct ChoiceRules {
  std::string own_prefix = std::string(kOwnPrefix);
  // Whether a `.json` file will do where there is neither `.conf` nor `.conflist`.
  bool takes_json = true;
};

// Of these names those that may be the primary's file, the one to be taken first: extension exactly
// `.conf` or `.conflist`, not our own, in byte order.
std::vector<std::string> candidates(const std::vector<std::string>& names,
                                    const ChoiceRules& rules = {});

// The same of a directory; directories in it are skipped. The content of a file does not matter,
// except for `.json`: other files have that extension too, so only CNI configurations count. An
// error if the directory cannot be read.
Result<std::vector<std::string>> list_candidates(const std::string& directory,
                                                 const ChoiceRules& rules = {});

// `could not find a plugin configuration in <directory>`
Error no_candidate(std::string_view directory);

struct PrimaryChoice {
  std::string path;
  std::string why;                    // it was chosen, for people
  std::vector<std::string> warnings;  // that it may be the wrong one
};
// The daemon's primary: the file named `master`, be it there or not; if that is empty, the first
// candidate. no_candidate() if there is none. Blocks.
Result<PrimaryChoice> choose_primary(const std::string& directory, std::string_view master);

// Refuses a file name that is one of our own, wherever it points:
// `cannot specify <directory>/<name> to prevent recursive config load`. An empty name is none.
Result<void> check_master_name(std::string_view directory, std::string_view name);

// Exactly three decimal numbers between dots, without leading zeros.
std::optional<cni::VersionNumber> strict_version(std::string_view text);

// `couldn't get top level cni version`, after the same words as errors of parse_primary(), unless
// the daemon's own `cniVersion` is strict.
Result<void> check_top_version(std::string_view version);

struct Primary {
  json::Object object;
  // Below 0.4.0 while the daemon's is not: its results are converted, CHECK skips it.
  bool is_older = false;
};

// The file's text as a primary for a daemon of version `top_version`. `own_type` is the type that
// the generated file carries: whatever has that, or one of Multus's own, cannot be a primary.
// Errors have the original's words after `failed to load the primary CNI configuration …`.
Result<Primary> parse_primary(std::string_view text, std::string_view top_version,
                              std::string_view own_type);

// Reads the file and parses it. Blocks.
Result<Primary> load_primary(const std::string& path, std::string_view top_version,
                             std::string_view own_type);

// Where a configuration names Multus itself, at any depth (`plugins[1].delegates[0].type`): taking
// it would make Multus its own delegate. None if nowhere.
std::optional<std::string> find_multus(const json::Object& config, std::string_view own_type);

struct Capabilities {
  std::map<std::string, bool> values;  // a capability that any plugin has is true
  std::vector<std::string> ignored;    // what is not a boolean or a list, for people
};

// Those of each plugin where `plugins` is a list with something in it, else those at top level.
Capabilities capabilities_of(const json::Object& primary);

// Its `name`, a text that is not empty.
Result<std::string> network_name(const json::Object& primary);

// Sets the top-level `cniVersion` of the file, if it has another: atomically, mode and owner kept,
// other members as they were. True if it was rewritten. `failed to unmarshall cni config <path>: …`
// (kInvalid) if it is not a JSON object. Blocks.
Result<bool> force_version(const std::string& path, std::string_view version);

}  // namespace mnet::nodeconf
