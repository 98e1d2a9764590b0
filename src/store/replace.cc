#include "store/replace.h"

#include <sys/types.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "base/durability.h"
#include "base/result.h"
#include "base/try.h"
#include "sys/file.h"

namespace mnet::store {
namespace {

constexpr mode_t kDirectoryMode = 0700;
constexpr mode_t kFileMode = 0600;

}  // namespace

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
