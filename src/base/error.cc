#include "base/error.h"

#include <string.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace mnet {
namespace {

Errc code_of_errno(int os_errno) {
  switch (os_errno) {
    case ENOENT:
    case ENODEV:
    case ESRCH:
      return Errc::kNotFound;
    case EEXIST:
      return Errc::kConflict;
    case EACCES:
    case EPERM:
      return Errc::kDenied;
    case ETIMEDOUT:
      return Errc::kTimeout;
    case ECONNREFUSED:
    case ECONNRESET:
    case EPIPE:
      return Errc::kUnavailable;
    default:
      return Errc::kIo;
  }
}

}  // namespace

Error Error::from_object(Errc code, ErrorObject object) {
  Error error(code, object.details.empty() ? object.msg : cat(object.msg, "; ", object.details));
  error.origin_ = std::make_shared<const ErrorObject>(std::move(object));
  return error;
}

Error Error::from_errno(int os_errno, std::string_view what) {
  return Error(code_of_errno(os_errno), cat(what, ": ", errno_text(os_errno)), os_errno);
}

Error Error::wrap(std::string_view context) && {
  text_ = cat(context, ": ", text_);
  return std::move(*this);
}

Error Error::wrap(std::string_view context) const& { return Error(*this).wrap(context); }

Error Error::with_text(std::string text) const {
  Error error(*this);
  error.text_ = std::move(text);
  return error;
}

std::string errno_text(int os_errno) {
  // strerrordesc_np is thread-safe and knows no locale, unlike strerror.
  const char* description = strerrordesc_np(os_errno);
  if (description == nullptr) return cat("errno ", os_errno);
  std::string text = description;
  // "No such file or directory", but "I/O error" and "RPC..." keep their capitals.
  if (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a' && text[1] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  }
  return text;
}

}  // namespace mnet
