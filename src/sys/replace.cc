// Changes of a directory: atomic replacement (write beside, sync, rename, sync the directory),
// removal.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/durability.h"
#include "base/error.h"
#include "base/random_number.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/fd.h"
#include "sys/file.h"
#include "sys/replacing.h"
#include "sys/write_all.h"

namespace mnet::sys {
namespace {

Error failed(std::string_view doing, std::string_view path, int os_errno) {
  return Error::from_errno(os_errno, cat(doing, " ", path));
}

// Removes the temporary name unless it was renamed away.
class Temporary {
 public:
  explicit Temporary(const Replacement& names) : names_(names) {}
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (!is_renamed_) ::unlinkat(names_.directory, names_.temporary.c_str(), 0);
  }
  void renamed() { is_renamed_ = true; }

 private:
  const Replacement& names_;
  bool is_renamed_ = false;
};

Result<void> write_new(const Replacement& names, const Fill& fill, const Shape& shape, bool sync) {
  const std::string path = cat(names.prefix, names.temporary);
  // A secret must not be readable between creation and fchmod, hence the narrow mode first.
  UniqueFd fd(::openat(names.directory, names.temporary.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) return failed("open", path, errno);
  if (shape.owner && ::fchown(fd.get(), shape.owner->user, shape.owner->group) != 0) {
    return failed("chown", path, errno);
  }
  // After the owner: a change of that takes set-user-id bits away.
  if (::fchmod(fd.get(), shape.mode) != 0) return failed("chmod", path, errno);
  MNET_TRY_VOID(fill(fd.get(), path));
  if (sync && ::fsync(fd.get()) != 0) return failed("sync", path, errno);
  // Where writes are delayed (quota, network file systems) only close() knows.
  if (::close(fd.release()) != 0 && errno != EINTR) return failed("close", path, errno);
  return {};
}

Result<void> sync_directory(const std::string& directory) {
  const UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return failed("open", directory, errno);
  if (::fsync(fd.get()) != 0) return failed("sync", directory, errno);
  return {};
}

Result<void> replace(const std::string& path, std::string_view bytes, const Shape& shape,
                     Durability durability) {
  const auto fill = [bytes](int fd, const std::string& name) { return write_all(fd, bytes, name); };
  return replace_with(path, fill, shape, durability);
}

}  // namespace

Result<void> replace_at(const Replacement& names, const Fill& fill, const Shape& shape,
                        Durability durability) {
  Temporary temporary(names);
  MNET_TRY_VOID(write_new(names, fill, shape, durability == Durability::kDurable));
  MNET_TRY_VOID(names.check());
  if (::renameat(names.directory, names.temporary.c_str(), names.directory, names.name.c_str()) !=
      0) {
    return failed("rename", cat(names.prefix, names.temporary, " ", names.prefix, names.name),
                  errno);
  }
  temporary.renamed();
  return {};
}

Result<void> replace_with(const std::string& path, const Fill& fill, const Shape& shape,
                          Durability durability) {
  const std::string directory = directory_of(path);
  const std::string temporary = cat(directory, directory.ends_with('/') ? "" : "/",
                                    kTemporaryPrefix, ::getpid(), "-", random_number());
  const Replacement names{
      .directory = AT_FDCWD, .prefix = "", .temporary = temporary, .name = path};
  MNET_TRY_VOID(replace_at(names, fill, shape, durability));
  return durability == Durability::kDurable ? sync_directory(directory) : Result<void>();
}

Result<void> replace_file(const std::string& path, std::string_view bytes, mode_t mode,
                          Durability durability) {
  return replace(path, bytes, {.mode = mode}, durability);
}

Result<void> rewrite_file(const std::string& path, std::string_view bytes, Durability durability) {
  std::error_code unresolved;
  const std::string real = std::filesystem::canonical(path, unresolved).string();
  if (unresolved) return failed("open", path, unresolved.value());
  struct stat status{};
  if (::stat(real.c_str(), &status) != 0) return failed("stat", real, errno);
  const Shape shape{.mode = status.st_mode & 07777, .owner = Owner{status.st_uid, status.st_gid}};
  return replace(real, bytes, shape, durability);
}

Result<void> sync_file(const std::string& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd && errno != ENOENT) return failed("open", path, errno);
  if (fd && ::fsync(fd.get()) != 0) return failed("sync", path, errno);
  auto names = sync_directory(directory_of(path));
  if (!fd && !names && names.error().os_errno() == ENOENT) return {};
  return names;
}

Result<bool> remove_file(const std::string& path, Durability durability) {
  if (::unlink(path.c_str()) != 0) {
    if (errno == ENOENT) return false;
    return failed("remove", path, errno);
  }
  if (durability == Durability::kDurable) {
    MNET_TRY_VOID(sync_directory(directory_of(path)));
  }
  return true;
}

Result<void> sweep_temporaries(const std::string& directory, long age_seconds) {
  auto entries = list_directory(directory);
  if (!entries && entries.error().os_errno() == ENOENT) return {};
  if (!entries) return std::move(entries).error();

  const std::time_t now = std::time(nullptr);
  for (const Entry& entry : *entries) {
    if (entry.kind != EntryKind::kRegular || !entry.name.starts_with(kTemporaryPrefix)) continue;
    const std::string path = cat(directory, "/", entry.name);
    struct stat status{};
    if (::lstat(path.c_str(), &status) != 0) continue;  // renamed by its owner meanwhile
    if (now - status.st_mtime < age_seconds) continue;
    MNET_TRY([[maybe_unused]] const auto& removed, remove_file(path, Durability::kInPlace));
  }
  return {};
}

}  // namespace mnet::sys
