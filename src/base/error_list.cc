#include "base/error_list.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"

namespace mnet {

Result<void> ErrorList::join(std::string_view separator) const {
  if (errors_.empty()) return {};
  const Error* leading = &errors_.front();
  for (const Error& error : errors_) {
    if (error.origin() != nullptr) {
      leading = &error;
      break;
    }
  }
  std::string text;
  for (const Error& error : errors_) {
    if (!text.empty()) text += separator;
    text += error.text();
  }
  return leading->with_text(std::move(text));
}

}  // namespace mnet
