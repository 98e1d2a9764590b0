#include "yaml/yaml.h"

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "yaml/builder.h"

namespace mnet::yaml {

Result<std::vector<Document>> parse_documents(std::string_view text, Limits limits) {
  if (text.size() > limits.bytes)
    return Error(Errc::kInvalid, cat("larger than ", limits.bytes, " bytes"));
  Builder builder(limits);
  // The one place where yaml-cpp's exceptions end.
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (builder.may_go_on() && parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& e) {
    if (builder.may_go_on()) return error_at(e.mark, e.msg);  // else the first error counts
  }
  return builder.take();
}

}  // namespace mnet::yaml
