#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
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
  std::size_t count = 0;
  auto listed =
      sys::visit_directory(directory, [&count](std::string_view name, sys::EntryKind kind) {
        if (kind == sys::EntryKind::kRegular && !name.starts_with(sys::kTemporaryPrefix)) ++count;
      });
  if (!listed && listed.error().code() != Errc::kNotFound) return std::move(listed).error();
  return count;
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
