// Any bytes as the primary's configuration: an accepted one does not name Multus, and what is made
// from it is one JSON object that would itself not be accepted.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "json/json.h"
#include "nodeconf/generate.h"
#include "nodeconf/primary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  mnet::nodeconf::Settings settings;
  settings.cni_version = "1.1.0";
  const auto primary = mnet::nodeconf::parse_primary(input, settings.cni_version, settings.type);
  if (!primary) return 0;
  if (mnet::nodeconf::find_multus(primary->object, settings.type)) std::abort();
  mnet::nodeconf::Generator generator(settings);
  const auto output = generator.output("/p", *primary);
  if (!output || !mnet::json::parse_object(output->text)) std::abort();
  if (mnet::nodeconf::parse_primary(output->text, settings.cni_version, settings.type)) {
    std::abort();
  }
  return 0;
}
