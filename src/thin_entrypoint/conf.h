// Generates 00-multus.conf[list] of thin mode (03, 9.2): Multus's configuration with the primary's
// inside.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "thin_entrypoint/options.h"

namespace mnet::thin_entrypoint {

// The first is written for versions below 1.0.0, the second from 1.0.0 on; never both.
inline constexpr std::string_view kConf = "00-multus.conf";
inline constexpr std::string_view kConflist = "00-multus.conflist";

struct Conf {
  std::string file;                   // kConf or kConflist
  std::string text;                   // byte for byte what the original writes
  std::vector<std::string> warnings;  // to be printed
};

// Makes it from the text of the primary's file; `path` is for messages. Pure.
Result<Conf> make_conf(const Options& options, const std::string& path, std::string_view primary);

// The log level to be written; an error if there is no such level.
Result<std::string> log_level(const Options& options);

struct Primary {
  std::string name;
  std::string path;         // of the file to read
  bool is_renamed = false;  // the path is that of `<name>.old`
};

// The current primary: the named file, else the first in the directory that is not our own. With
// --rename-conf-file, `<name>.old` stands for a missing `<name>`. A file that sorts before `last`,
// the primary so far, replaces it; a file that sorts after it does not: the cluster network would
// change merely because its file is missing for a moment. kNotFound if there is none. Blocks.
Result<Primary> choose_primary(const Options& options, const std::string& last = {});

}  // namespace mnet::thin_entrypoint
