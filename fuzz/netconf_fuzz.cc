// Any bytes as a netconf, strictly and leniently: refused, or loaded into delegates that can be
// stored and read back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "model/netconf.h"
#include "model/runtime_config.h"
#include "model/scratch.h"

using namespace mnet;

namespace {

void check_stored(const model::NetConf& conf) {
  if (conf.delegates.empty()) return;
  auto back = model::decode_scratch(model::encode_scratch(conf.delegates));
  if (!back || back->size() != conf.delegates.size()) std::abort();
  for (std::size_t i = 0; i < back->size(); ++i) {
    if ((*back)[i].bytes != conf.delegates[i].bytes) std::abort();
    if ((*back)[i].is_list != conf.delegates[i].is_list) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = model::parse_netconf(text);
  if (!document) return 0;
  const auto strict = model::read_netconf(*document);
  // What ADD accepts has no fault for DEL, which takes anything.
  if (model::read_netconf_for_del(*document).fault && strict) std::abort();
  if (!strict) return 0;
  check_stored(*strict);
  if (strict->runtime_config) (void)model::to_json(*strict->runtime_config);
  return 0;
}
