// 00-multus.conf[list] of thin mode (03, 9.2): the primary's configuration with Multus around it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "thin_entrypoint/options.h"

namespace mnet::thin_entrypoint {

// Below 1.0.0 the one is written, from there on the other; never both.
inline constexpr std::string_view kConf = "00-multus.conf";
inline constexpr std::string_view kConflist = "00-multus.conflist";

struct Conf {
  std::string file;                   // kConf or kConflist
  std::string text;                   // byte for byte what the original writes
  std::vector<std::string> warnings;  // for people
};

// From the text of the primary's file; `path` is for messages. Pure.
Result<Conf> make_conf(const Options& options, const std::string& path, std::string_view primary);

// The log level as it is written; an error for one that does not exist.
Result<std::string> log_level(const Options& options);

struct Primary {
  std::string name;
  std::string path;         // of the file to read
  bool is_renamed = false;  // the path is that of `<name>.old`
};

// The primary as of now: the named file, else the first in the folder that is not our own. With
// --rename-conf-file a `<name>.old` stands for `<name>` where that is missing. One that sorts
// before the `last` one takes its place; none behind it does, for then the cluster network would
// change because its file is away for a moment. kNotFound if there is none. Blocks.
Result<Primary> choose_primary(const Options& options, const std::string& last = {});

}  // namespace mnet::thin_entrypoint
