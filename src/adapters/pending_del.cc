#include "adapters/pending_del.h"

#include <string>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "cni/error.h"
#include "store/store.h"
#include "wire/wire.h"

namespace mnet::adapters {

Result<void> write_pending_del(const std::string& cni_dir, const wire::Call& call,
                               const std::string& config) {
  wire::Request body;
  body.env = {{"CNI_COMMAND", "DEL"},    {"CNI_CONTAINERID", call.container_id},
              {"CNI_NETNS", call.netns}, {"CNI_IFNAME", call.ifname},
              {"CNI_ARGS", call.args},   {"CNI_PATH", call.path}};
  body.config = config;
  return store::PendingDels(cni_dir).write(call.container_id, call.ifname, wire::to_text(body));
}

Error pending_in_the_way(const Error& why) {
  return cni::coded(cni::Code::kTryAgainLater,
                    cat("an older DEL of this container is pending, and its record cannot be read "
                        "or removed now: ",
                        why.text(), "; try again later"));
}

}  // namespace mnet::adapters
