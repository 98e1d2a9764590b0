#include "base/reading.h"

#include <cerrno>

#include "base/error.h"

namespace mnet {

bool is_shortage(const Error& error) {
  switch (error.os_errno()) {
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
    case EAGAIN:
      return true;
    default:
      return false;
  }
}

bool is_damage(const Error& error) {
  return error.code() == Errc::kProtocol || error.code() == Errc::kInvalid;
}

}  // namespace mnet
