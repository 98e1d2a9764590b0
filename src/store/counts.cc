#include <algorithm>
#include <cstddef>
#include <string>

#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "store/own_files.h"
#include "store/pending_dels.h"
#include "store/store.h"
#include "sys/file.h"

namespace mnet::store {
namespace {

Result<std::size_t> files_in(const std::string& directory) {
  MNET_TRY(const auto& entries, list_entries(directory));
  return static_cast<std::size_t>(std::ranges::count_if(entries, [](const sys::Entry& entry) {
    return entry.kind == sys::EntryKind::kRegular && !entry.name.starts_with(sys::kTemporaryPrefix);
  }));
}

}  // namespace

Result<Counts> count_files(const std::string& cni_dir) {
  MNET_TRY(const auto& attachments, files_in(cat(cni_dir, "/", kAttachments)));
  MNET_TRY(const auto& scratch, ScratchFiles(cni_dir).list());  // beside the lock of hot-plug
  MNET_TRY(const auto& results, files_in(cat(cni_dir, "/results")));
  MNET_TRY(const auto& bad, files_in(cat(pending_del_directory(cni_dir), "/", kBad)));
  return Counts{.attachments = attachments,
                .scratch = scratch.size(),
                .results = results,
                .bad_pending_dels = bad};
}

}  // namespace mnet::store
