#include "cni/pending.h"

#include <string>
#include <string_view>

#include "base/text.h"

namespace mnet::cni {

std::string pending_del_directory(std::string_view cni_dir) {
  return cat(cni_dir, "/", kPendingDels);
}

std::string pending_del_file(std::string_view container_id, std::string_view ifname) {
  return cat(container_id, "-", ifname, ".json");
}

}  // namespace mnet::cni
