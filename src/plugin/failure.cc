#include "plugin/failure.h"

#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cni/error.h"
#include "json/json.h"

namespace mnet::plugin {
namespace {

std::string without_words(std::string_view ending, std::string_view err) {
  if (trim(err).empty()) return cat("netplugin failed with no error message: ", ending);
  return cat("netplugin failed: ", go_quoted(err), ": ", ending);
}

}  // namespace

Error failure(Errc code, std::string_view ending, std::string_view out, std::string_view err) {
  if (out.empty()) return Error::from_object(code, {0, without_words(ending, err), ""});
  auto document = json::parse(out);
  auto object = document ? cni::parse_error_object(*document)
                         : Result<ErrorObject>(std::move(document).error());
  if (!object) {
    return Error::from_object(
        code, {0,
               cat("netplugin failed but error parsing its diagnostic message ", go_quoted(out),
                   ": ", object.error().text()),
               ""});
  }
  if (object->msg.empty()) object->msg = without_words(ending, err);
  return Error::from_object(code, *std::move(object));
}

}  // namespace mnet::plugin
