// Any bytes as a manifest, as a daemon's configuration and as a CNI configuration file: lint ends,
// and points at a place of the text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "lint/lint.h"
#include "lint/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lines = 1 + std::ranges::count(text, '\n');
  for (const char* name : {"a.yaml", "daemon-config.json", "a.conf", "a.conflist"}) {
    const auto file =
        std::make_shared<const mnet::lint::File>(mnet::lint::File{name, std::string(text)});
    for (const auto& finding : mnet::lint::lint({file}, {})) {
      if (finding.spot.line < 1 || finding.spot.line > lines || finding.text.empty()) std::abort();
    }
  }
  return 0;
}
