// The error of a plugin that failed (01, 7.5). Internal.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace mnet::plugin {

struct Ending {
  std::string how;      // "exit status 3", "signal: killed", "fork/exec <path>: permission denied"
  std::string details;  // what else is known; used if the plugin printed no error object
};

// The error always carries an error object: the plugin's own if it printed one, else code 0.
Error failure(Errc code, const Ending& ending, std::string_view out, std::string_view err);

}  // namespace mnet::plugin
