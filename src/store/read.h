// Reading files and directories of ours. Internal to store.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/file.h"

namespace mnet::store {

// None if there is no file. is_damage(): what is there cannot be a file of ours (a directory). Any
// other error says nothing about what is there; one that is too large to be read may be ours.
Result<std::optional<std::string>> find_text(const std::string& path);

// Whether there is a file, or that cannot be told.
bool may_exist(const std::string& path);

// Of the file; 0 if that cannot be told.
std::size_t size_of(const std::string& path);

// When the file was written; now if that cannot be told.
std::chrono::system_clock::time_point written_at(const std::string& path);

// Nothing if there is no directory.
Result<std::vector<sys::Entry>> list_entries(const std::string& directory);

}  // namespace mnet::store
