// `multusctl report`: the state of a cluster as a page.
#pragma once

#include <string_view>

#include "base/result.h"
#include "multusctl/commands.h"
#include "multusctl/invocation.h"
#include "multusctl/report/report_page.h"

namespace mnet::multusctl {

// An error if nothing at all can be read.
Result<ReportInput> gather_report(const Invocation& invocation, const Surroundings& surroundings);

// To the file of -o; `-`: standard output.
Result<void> write_output(const Invocation& invocation, std::string_view bytes);

}  // namespace mnet::multusctl
