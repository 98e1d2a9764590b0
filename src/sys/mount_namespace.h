// Looking at files as another mount namespace, or another root, shows them (03, 7,
// delegateMountNamespace and chrootDir).
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "sys/fd.h"

namespace mnet::sys {

// Opens a mount namespace file, e.g. /proc/1/ns/mnt; anything else is an error.
Result<UniqueFd> open_mount_namespace(const std::string& path);

// Calls `look` where every path is resolved in the mount namespace `path`; descriptors that it
// opens are ours afterwards. It runs on a thread made for it, which never comes back from there,
// while the caller waits: keep it short.
Result<void> look_in_mount_namespace(const std::string& path, const std::function<void()>& look);

// Opens a path as a process sees it whose root is `root`: absolute links stay inside it, too. Empty
// if it cannot; errno says why. What /proc links to is not followed.
UniqueFd open_below(const UniqueFd& root, const std::string& path, int flags);

}  // namespace mnet::sys
