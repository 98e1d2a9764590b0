// The one error type: a code to branch on, text for people, and the error object that another
// program reported.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace mnet {

// What went wrong, as far as a caller may branch on it. Never branch on text.
enum class Errc : std::uint8_t {
  kInvalid,      // the input is wrong; trying again will not help
  kNotFound,     // the named thing does not exist
  kConflict,     // it exists already, or something else uses it
  kDenied,       // not permitted
  kUnavailable,  // not now; trying again may help
  kTimeout,      // the deadline passed
  kCancelled,    // the caller no longer wants it
  kIo,           // the operating system refused
  kProtocol,     // the peer violated the protocol
  kPlugin,       // a plugin ran and failed
  kBug,          // a defect of this program
};

// An error object as CNI programs exchange it on stdout and on the wire (01, 1.3).
struct ErrorObject {
  std::uint64_t code = 0;
  std::string msg;
  std::string details;

  friend bool operator==(const ErrorObject&, const ErrorObject&) = default;
};

class Error {
 public:
  Error(Errc code, std::string text, int os_errno = 0)
      : code_(code), os_errno_(os_errno), text_(std::move(text)) {}

  // An error that carries a CNI error object. `text()` is "msg", or "msg; details".
  static Error from_object(Errc code, ErrorObject object);

  // `<what>: <errno_text(os_errno)>`, with the code that fits the errno.
  static Error from_errno(int os_errno, std::string_view what);

  Errc code() const { return code_; }
  int os_errno() const { return os_errno_; }
  const std::string& text() const { return text_; }

  // The error object that another program reported, or that we chose because the container runtime
  // must see exactly that code; nullptr if there is none. wrap() keeps it. Valid as long as this
  // Error.
  const ErrorObject* origin() const { return origin_.get(); }

  // The same error with `<context>: ` before its text; the origin is unchanged.
  Error wrap(std::string_view context) &&;
  Error wrap(std::string_view context) const&;

  // The same code, errno and origin with another text.
  Error with_text(std::string text) const;

 private:
  Errc code_;
  int os_errno_;
  std::string text_;
  std::shared_ptr<const ErrorObject> origin_;
};

// Lower-case text of an errno as Go prints it ("no such file or directory"), so that people who
// search for a message of the original find ours, too.
std::string errno_text(int os_errno);

}  // namespace mnet
