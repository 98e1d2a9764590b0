// The files that store keeps: which container ids may name one, how they are read and written.
// Internal to store.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/durability.h"
#include "base/error.h"
#include "base/result.h"
#include "sys/file.h"

namespace mnet::store {

inline constexpr std::string_view kAttachments = "_attachments";

// Where damaged pending DELs wait for a person.
inline constexpr std::string_view kBad = "bad";  // in the directory of pending DELs

// Safe in a path, and none of the directories of ours that lie beside the scratch files (02, 0.3;
// 05, 3.2).
bool is_safe_id(std::string_view container_id);
Error unsafe_id_error(std::string_view container_id);

// None if there is no file. is_damage(): what is there cannot be a file of ours (a directory). Any
// other error says nothing about what is there; one that is too large to be read may be ours.
Result<std::optional<std::string>> find_text(const std::string& path);

// Whether there is a file, or that is unknown.
bool may_exist(const std::string& path);

// Of the file; 0 if that is unknown.
std::size_t size_of(const std::string& path);

// When the file was written; now if that is unknown.
std::chrono::system_clock::time_point written_at(const std::string& path);

// Nothing if there is no directory.
Result<std::vector<sys::Entry>> list_entries(const std::string& directory);

// sys::replace_file() for `path` in `directory`, which is made if it is missing; both for root
// only.
Result<void> replace_below(const std::string& directory, const std::string& path,
                           std::string_view bytes, Durability durability);

}  // namespace mnet::store
