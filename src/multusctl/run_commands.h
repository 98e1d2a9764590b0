// What each command runs; yields the exit status. run_lint() is in lint_command.cc, and so on; what
// is about the program itself in about.cc.
#pragma once

#include "multusctl/commands.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

// Change nothing.
int run_lint(const Invocation& invocation, Surroundings& surroundings);
int run_status(const Invocation& invocation, Surroundings& surroundings);
int run_pods(const Invocation& invocation, Surroundings& surroundings);
int run_doctor(const Invocation& invocation, Surroundings& surroundings);
int run_explain(const Invocation& invocation, Surroundings& surroundings);

// Repair, try and report (hands/, trial/, report/).
int run_pending(const Invocation& invocation, Surroundings& surroundings);
int run_gc(const Invocation& invocation, Surroundings& surroundings);
int run_attach(const Invocation& invocation, Surroundings& surroundings);
int run_detach(const Invocation& invocation, Surroundings& surroundings);
int run_test(const Invocation& invocation, Surroundings& surroundings);
int run_probe(const Invocation& invocation, Surroundings& surroundings);
int run_report(const Invocation& invocation, Surroundings& surroundings);
int run_bundle(const Invocation& invocation, Surroundings& surroundings);

// About the program.
int run_completion(const Invocation& invocation, Surroundings& surroundings);
int run_man(const Invocation& invocation, Surroundings& surroundings);
int run_version(const Invocation& invocation, Surroundings& surroundings);

}  // namespace mnet::multusctl
