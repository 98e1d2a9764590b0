#include "store/read.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "sys/file.h"

namespace mnet::store {

Result<std::optional<std::string>> find_text(const std::string& path) {
  auto text = sys::find_file(path);
  if (text) return text;
  const int why = text.error().os_errno();
  if (why != EISDIR) return text;
  return Error(Errc::kProtocol, text.error().text(), why);
}

bool may_exist(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0 || errno != ENOENT;
}

std::size_t size_of(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

std::chrono::system_clock::time_point written_at(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::chrono::system_clock::now();
  return std::chrono::system_clock::from_time_t(status.st_mtime);
}

Result<std::vector<sys::Entry>> list_entries(const std::string& directory) {
  auto entries = sys::list_directory(directory);
  if (!entries && entries.error().code() == Errc::kNotFound) return std::vector<sys::Entry>();
  return entries;
}

}  // namespace mnet::store
