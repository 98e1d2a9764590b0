#include "adapters/pending_del.h"

#include <string>

#include "attach/attach.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "cni/error.h"
#include "store/store.h"
#include "wire/wire.h"

namespace mnet::adapters {

Result<void> write_pending_del(const std::string& cni_dir, const attach::Request& request) {
  wire::Request body;
  body.env = {{"CNI_COMMAND", "DEL"},       {"CNI_CONTAINERID", request.container_id},
              {"CNI_NETNS", request.netns}, {"CNI_IFNAME", request.ifname},
              {"CNI_ARGS", request.args},   {"CNI_PATH", request.path}};
  body.config = request.config;
  return store::PendingDels(cni_dir).write(request.container_id, request.ifname,
                                           wire::to_text(body));
}

Error pending_in_the_way(const Error& why) {
  return cni::coded(cni::Code::kTryAgainLater,
                    cat("an older DEL of this container is pending, and its record cannot be read "
                        "or removed now: ",
                        why.text(), "; try again later"));
}

}  // namespace mnet::adapters
