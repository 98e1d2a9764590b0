#include "store/names.h"

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "cni/names.h"
#include "store/pending_dels.h"
#include "store/store.h"

namespace mnet::store {

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

}  // namespace mnet::store
