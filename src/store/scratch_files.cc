#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/durability.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "store/own_files.h"
#include "store/store.h"
#include "sys/file.h"

namespace mnet::store {
ScratchFiles::ScratchFiles(std::string cni_dir) : cni_dir_(std::move(cni_dir)) {}

std::optional<std::string> ScratchFiles::path_of(const std::string& container_id) const {
  if (!is_safe_id(container_id)) return std::nullopt;
  return cat(cni_dir_, "/", container_id);
}

Result<void> ScratchFiles::write(const std::string& container_id, const json::Array& delegates,
                                 Durability durability) const {
  const auto path = path_of(container_id);
  if (!path) return unsafe_id_error(container_id);
  return replace_below(cni_dir_, *path, json::dump(delegates), durability);
}

bool ScratchFiles::has(const std::string& container_id) const {
  const auto path = path_of(container_id);
  return path && may_exist(*path);
}

Result<std::optional<json::Array>> ScratchFiles::find(const std::string& container_id) const {
  const auto path = path_of(container_id);
  if (!path) return std::nullopt;
  MNET_TRY(auto&& text, find_text(*path));
  if (!text) return std::nullopt;
  auto document = json::parse(*text);
  if (!document) return Error(Errc::kProtocol, cat(*path, ": ", document.error().text()));
  json::Array* delegates = document->as_array();
  if (delegates == nullptr) {
    return Error(Errc::kProtocol, cat(*path, ": expected a list, got ", document->kind()));
  }
  return std::move(*delegates);
}

std::size_t ScratchFiles::size(const std::string& container_id) const {
  const auto path = path_of(container_id);
  return path ? size_of(*path) : 0;
}

Result<bool> ScratchFiles::remove(const std::string& container_id) const {
  const auto path = path_of(container_id);
  if (!path) return false;
  return sys::remove_file(*path, Durability::kInPlace);
}

Result<std::vector<std::string>> ScratchFiles::list() const {
  MNET_TRY(auto&& entries, list_entries(cni_dir_));
  std::vector<std::string> ids;
  for (sys::Entry& entry : entries) {
    if (entry.kind == sys::EntryKind::kRegular && is_safe_id(entry.name)) {
      ids.push_back(std::move(entry.name));
    }
  }
  return ids;
}

Result<void> ScratchFiles::sync(const std::string& container_id) const {
  const auto path = path_of(container_id);
  if (!path) return {};
  return sys::sync_file(*path);
}

}  // namespace mnet::store
