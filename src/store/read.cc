#include "store/read.h"

#include <cerrno>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/result.h"
#include "sys/file.h"

namespace mnet::store {

Result<std::optional<std::string>> find_text(const std::string& path) {
  auto text = sys::find_file(path);
  if (text) return text;
  const int why = text.error().os_errno();
  if (why != EISDIR && why != EFBIG) return text;
  return Error(Errc::kProtocol, text.error().text(), why);
}

}  // namespace mnet::store
