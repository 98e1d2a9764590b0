// Any bytes as the primary of thin mode: what comes out is JSON, holds the primary as its only
// delegate, and has the name that its version asks for.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "json/json.h"
#include "thin_entrypoint/conf.h"
#include "thin_entrypoint/options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  mnet::thin_entrypoint::Options options;
  options.override_network_name = size % 2 == 1;
  const auto conf = mnet::thin_entrypoint::make_conf(options, "/d/10.conf", text);
  if (!conf) return 0;
  const auto object = mnet::json::parse_object(conf->text);
  if (!object) std::abort();
  const bool is_list = conf->file == mnet::thin_entrypoint::kConflist;
  const mnet::json::Object* multus = &*object;
  if (is_list) multus = object->find("plugins")->as_array()->front().as_object();
  if (*multus->find("delegates") !=
      mnet::json::Value(mnet::json::Array{*mnet::json::parse(text)})) {
    std::abort();
  }
  return 0;
}
