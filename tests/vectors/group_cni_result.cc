#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "cni/result.h"
#include "groups.h"
#include "json/fields.h"
#include "json/json.h"

namespace mnet::vectors {
namespace {

Result<json::Object> outcome(Result<cni::NetResult> result) {
  if (!result) return std::move(result).error();
  return json::Object{{"result", cni::to_json(*result)}};
}

Result<json::Object> convert(const json::Object& input) {
  auto document = value_of(input, "result");
  if (!document) return std::move(document).error();
  auto to = text_of(input, "to");
  if (!to) return std::move(to).error();
  auto result = cni::read_result(*std::move(document));
  if (!result) return std::move(result).error();
  return outcome(cni::convert(*result, *to));
}

Result<json::Object> prev_result(const json::Object& input) {
  auto version = value_of(input, "config_version");
  if (!version) return std::move(version).error();
  auto prev = value_of(input, "prev_result");
  if (!prev) return std::move(prev).error();
  auto result = cni::read_prev_result({{"cniVersion", *version}, {"prevResult", *prev}});
  if (!result) return std::move(result).error();
  if (!*result) return json::Object{{"result", nullptr}};
  return outcome(**std::move(result));
}

Result<json::Object> plugin_output(const json::Object& input) {
  auto netconf = object_of(input, "netconf");
  if (!netconf) return std::move(netconf).error();
  auto output = text_of(input, "stdout");
  if (!output) return std::move(output).error();
  std::string version;
  json::Fields fields(*netconf);
  fields.read("cniVersion", version);
  if (auto read = fields.done(); !read) {
    return std::move(read).error().wrap("decoding version from network config");
  }
  return outcome(cni::read_plugin_output(*output, version));
}

}  // namespace

Group cni_result_group() {
  return {
      .name = "cni-result-convert",
      .operations = {
          {"convert", convert}, {"prev-result", prev_result}, {"plugin-output", plugin_output}}};
}

}  // namespace mnet::vectors
