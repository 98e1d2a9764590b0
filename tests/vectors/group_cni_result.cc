#include <string>
#include <utility>

#include "base/result.h"
#include "base/try.h"
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
  MNET_TRY(auto&& document, value_of(input, "result"));
  MNET_TRY(auto&& to, text_of(input, "to"));
  MNET_TRY(auto&& result, cni::read_result(document));
  return outcome(cni::convert(result, to));
}

Result<json::Object> prev_result(const json::Object& input) {
  MNET_TRY(auto&& version, value_of(input, "config_version"));
  MNET_TRY(auto&& prev, value_of(input, "prev_result"));
  MNET_TRY(auto&& result, cni::read_prev_result({{"cniVersion", version}, {"prevResult", prev}}));
  if (!result) return json::Object{{"result", nullptr}};
  return outcome(*std::move(result));
}

Result<json::Object> plugin_output(const json::Object& input) {
  MNET_TRY(auto&& netconf, object_of(input, "netconf"));
  MNET_TRY(auto&& output, text_of(input, "stdout"));
  std::string version;
  json::Fields fields(netconf);
  fields.read("cniVersion", version);
  if (auto read = fields.done(); !read) {
    return std::move(read).error().wrap("decoding version from network config");
  }
  return outcome(cni::read_plugin_output(output, version));
}

}  // namespace

Group cni_result_group() {
  return {
      .name = "cni-result-convert",
      .operations = {
          {"convert", convert}, {"prev-result", prev_result}, {"plugin-output", plugin_output}}};
}

}  // namespace mnet::vectors
