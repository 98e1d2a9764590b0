#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "shim/shim.h"
#include "wire/wire.h"

namespace mnet::shim {

wire::Request make_request(const char* const* environment, std::string config) {
  wire::Request request;
  for (const char* const* entry = environment; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t at = text.find('=');
    if (at == std::string_view::npos) continue;
    const std::string_view name = trim(text.substr(0, at));
    if (!name.starts_with("CNI_") && name != "PATH") continue;
    request.env.emplace_back(name, text.substr(at + 1));
  }
  // The original's daemon refuses a DEL without the variable, and runtimes may leave it out.
  if (request.find_env("CNI_NETNS") == nullptr) request.env.emplace_back("CNI_NETNS", "");
  request.config = std::move(config);
  return request;
}

}  // namespace mnet::shim
