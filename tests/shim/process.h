// Runs one of our programs as the container runtime would: an environment, a stdin, and what came
// out.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace mnet::test {

struct Program {
  std::string name = "multus-shim";
  std::vector<std::string> words{};  // behind the name
  std::vector<std::string> env{};    // NAME=value, nothing else is inherited
  std::string text{};                // on stdin
  std::vector<int> closed{};         // of 0, 1 and 2
};

struct Finished {
  int exit = -1;  // 128 and the signal if it was killed
  std::string out, err;
  std::chrono::milliseconds took{};

  // The error object on stdout; the test fails if there is none.
  ErrorObject error() const;
};

Finished run(const Program& program);

// <build>/bin/<name>
std::string path_of(std::string_view name);

// The environment of a call, complete for every command.
std::vector<std::string> standard_env(std::string_view command);

}  // namespace mnet::test
