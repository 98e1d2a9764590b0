// Runs one of our programs as a container runtime would, with an environment and a stdin, and
// collects its output.
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
  std::vector<std::string> words{};  // after the name
  std::vector<std::string> env{};    // NAME=value; nothing is inherited
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

// An environment with all that any command requires.
std::vector<std::string> standard_env(std::string_view command);

}  // namespace mnet::test
