// Where the programs made by this build lie. For tests only.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace mnet::sys {

// A program that only tests and benchmarks use, "<build>/tools/<name>"; tests lie in <build>/tests.
inline std::string test_tool(std::string_view name) {
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return (self.parent_path().parent_path() / "tools" / name).string();
}

}  // namespace mnet::sys
