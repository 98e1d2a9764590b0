// Files: bounded reads, listing, and replacement that a reader never sees half done.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/durability.h"
#include "base/result.h"
#include "sys/fd.h"

namespace mnet::sys {

// The whole file. Larger than `max_bytes` is an error; a directory is one too. A FIFO without a
// writer reads as empty instead of blocking. Texts are Go's:
// `open <path>: no such file or directory`.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes = 64u << 20);
// None if there is no such file.
Result<std::optional<std::string>> find_file(const std::string& path,
                                             std::size_t max_bytes = 64u << 20);
// What is left to read of an open descriptor; `path` is for messages only.
Result<std::string> read_all(int fd, const std::string& path, std::size_t max_bytes = 64u << 20);

enum class EntryKind : std::uint8_t { kRegular, kDirectory, kLink, kOther };
struct Entry {
  std::string name;
  EntryKind kind;  // of the entry itself; a link is a link whatever it points to
};
// In byte order of the names, without "." and "..".
Result<std::vector<Entry>> list_directory(const std::string& path);
// The same, one after the other in any order: of a directory with a hundred thousand files nothing
// is kept.
Result<void> visit_directory(const std::string& path,
                             const std::function<void(std::string_view name, EntryKind)>& found);

// mkdir -p; directories that it makes get exactly `mode`, whatever the umask.
Result<void> make_directories(const std::string& path, mode_t mode);

// Writes beside (a name that begins with kTemporaryPrefix), then renames: a reader sees the old
// file or the new one. The file gets exactly `mode`. The temporary name is gone after any failure.
Result<void> replace_file(const std::string& path, std::string_view bytes, mode_t mode,
                          Durability durability = Durability::kDurable);

// The same for a file that is there, which keeps its mode and its owner. A link stays one: what it
// leads to is replaced.
Result<void> rewrite_file(const std::string& path, std::string_view bytes,
                          Durability durability = Durability::kDurable);

// Begins with '.', and no program that reads a directory of configurations takes such a name.
inline constexpr std::string_view kTemporaryPrefix = ".multus-tmp-";

// Syncs a file written kInPlace, or its removal: the file, if it is there, and its directory.
Result<void> sync_file(const std::string& path);

// True if it was there. kDurable also syncs the directory.
Result<bool> remove_file(const std::string& path, Durability durability = Durability::kDurable);

// Removes what replace_file of a killed process left in `directory`: names that begin with
// kTemporaryPrefix, older than `age_seconds`. A directory that does not exist has none.
Result<void> sweep_temporaries(const std::string& directory, long age_seconds);
// At that age a killed process has left it: no writer takes that long.
inline constexpr long kTemporaryAge = 600;

// False, too, if it is unknown.
bool exists(const std::string& path);
bool is_directory(const std::string& path);  // or a link to one

// Whether the error says that the file, or a directory on the way to it, is not there.
bool is_missing(const Error& error);

// "/a/b" of "/a/b/c", "." of "c", "/" of "/c".
std::string directory_of(const std::string& path);

}  // namespace mnet::sys
