#include "store/read.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
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

Result<std::vector<sys::Entry>> list_entries(const std::string& directory) {
  auto entries = sys::list_directory(directory);
  if (!entries && entries.error().code() == Errc::kNotFound) return std::vector<sys::Entry>();
  return entries;
}

}  // namespace mnet::store
