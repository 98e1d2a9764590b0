// Any bytes as CNI_ARGS: what delegates get names every key once, whatever the runtime sent.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "cni/args.h"
#include "model/pod_args.h"

using namespace mnet;

namespace {

void check_unique(const cni::ArgPairs& args) {
  std::set<std::string> keys;
  for (const auto& [key, value] : args) {
    if (!keys.insert(key).second) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const model::PodArgs lenient = model::read_pod_args_leniently(cni::parse_args_leniently(text));
  check_unique(model::delegate_args(lenient.pod, lenient.pairs));
  const auto pairs = cni::parse_args(text);
  if (!pairs) return 0;
  const auto strict = model::read_pod_args(*pairs);
  if (!strict) return 0;
  if (strict->pod.name != lenient.pod.name) std::abort();
  check_unique(model::delegate_args(strict->pod, strict->pairs));
  return 0;
}
