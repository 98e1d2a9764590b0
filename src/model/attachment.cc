#include "model/attachment.h"

#include <cstddef>
#include <string>
#include <string_view>

#include "base/text.h"
#include "model/delegate.h"

namespace mnet::model {

std::string interface_name(const Delegate& delegate, std::size_t index,
                           std::string_view cni_ifname) {
  if (!delegate.selection.ifname.empty()) return delegate.selection.ifname;
  if (delegate.is_master) return std::string(cni_ifname);
  return cat("net", index);
}

}  // namespace mnet::model
