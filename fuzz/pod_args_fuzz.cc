// Any bytes as CNI_ARGS: what delegates get names every key once, whatever the runtime sent.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

#include "attach/pod_args.h"
#include "cni/args.h"

namespace {

void check_unique(const mnet::cni::ArgPairs& args) {
  std::set<std::string> keys;
  for (const auto& [key, value] : args) {
    if (!keys.insert(key).second) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const mnet::attach::PodArgs lenient = mnet::attach::lenient_pod_args(text);
  check_unique(mnet::attach::delegate_args(lenient.pod, lenient.pairs));
  const auto strict = mnet::attach::parse_pod_args(text);
  if (!strict) return 0;
  if (strict->pod.name != lenient.pod.name) std::abort();
  check_unique(mnet::attach::delegate_args(strict->pod, strict->pairs));
  return 0;
}
