// Where the programs made by this build lie. For tests only.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace mnet::sys {

// "<build>/bin/<name>": test programs lie in <build>/tests.
inline std::string built_program(std::string_view name) {
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return (self.parent_path().parent_path() / "bin" / name).string();
}

}  // namespace mnet::sys
