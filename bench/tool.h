// How a measuring tool begins and ends: its command line, and its report on stdout.
#pragma once

#include <functional>

#include "base/command_line.h"
#include "base/result.h"
#include "json/json.h"

namespace mnet::bench {

// Reads the command line into what `flags` names, measures and prints the report as one line of
// JSON. Yields the exit status: 2 for a wrong command line, 1 for a measurement that failed, with
// the reason on stderr.
int run_tool(GoFlags& flags, int argc, char** argv,
             const std::function<Result<json::Object>()>& measure);

}  // namespace mnet::bench
