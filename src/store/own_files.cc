#include "store/own_files.h"

#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/durability.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/names.h"
#include "store/pending_dels.h"
#include "store/store.h"
#include "sys/file.h"

namespace mnet::store {
namespace {

constexpr mode_t kDirectoryMode = 0700;
constexpr mode_t kFileMode = 0600;

}  // namespace

// kAttachments needs no line of its own as long as no identifier begins with '_'; it has one so
// that this stays true.
bool is_safe_id(std::string_view container_id) {
  return cni::is_identifier(container_id) && container_id != "results" &&
         container_id != kPendingDels && container_id != kAttachments;
}

Error unsafe_id_error(std::string_view container_id) {
  return Error(Errc::kInvalid,
               cat("cannot make a file name from container ID ", go_quoted(container_id)));
}

std::string status_directory(const std::string& cni_dir) { return cat(cni_dir, "/_status"); }

std::string thin_lock(const std::string& cni_dir, const std::string& container_id) {
  return cat(cni_dir, "/_locks/", container_id);
}

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

// Nearly always the directory is there, so it is not looked for first.
Result<void> replace_below(const std::string& directory, const std::string& path,
                           std::string_view bytes, Durability durability) {
  auto written = sys::replace_file(path, bytes, kFileMode, durability);
  if (written || written.error().os_errno() != ENOENT) return written;
  MNET_TRY_VOID(sys::make_directories(directory, kDirectoryMode));
  // Its own name, in the directory above: a later sync of the file does not reach that.
  MNET_TRY_VOID(sys::sync_file(directory));
  return sys::replace_file(path, bytes, kFileMode, durability);
}

}  // namespace mnet::store
