// Runs a program to its end and reads what it prints. Nothing is sent to it.
#pragma once

#include <cstddef>
#include <string>

#include "aio/task.h"
#include "sys/spawn.h"

namespace mnet::aio {

struct ProgramOutput {
  std::string out, err;
  sys::ExitStatus status;
};

// Any end of it is a success. More than `most` bytes on one of the outputs: kProtocol. Cancelling
// kills it.
Task<ProgramOutput> run_program(sys::Program program, std::size_t most);

}  // namespace mnet::aio
