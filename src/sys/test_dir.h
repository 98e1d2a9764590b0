// A directory of its own for each test, removed with everything in it. For tests only.
#pragma once

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace mnet::sys {

class TestDir {
 public:
  TestDir() {
    std::string name = (std::filesystem::temp_directory_path() / "mnet-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  TestDir(const TestDir&) = delete;
  TestDir& operator=(const TestDir&) = delete;
  ~TestDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  // "<path>/<name>"
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

  // Writes a file, making directories as needed; yields its path.
  std::string write(std::string_view name, std::string_view bytes, int mode = 0644) const {
    const std::string path = *this / name;
    std::error_code ignored;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
    std::ofstream(path, std::ios::binary) << bytes;
    std::filesystem::permissions(path, static_cast<std::filesystem::perms>(mode), ignored);
    return path;
  }

 private:
  std::string path_;
};

}  // namespace mnet::sys
