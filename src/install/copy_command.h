// What the init containers of the original's manifests before v4.2.3 call: `cp SOURCE TARGET`, or a
// shell with such commands. Our image has neither program, so install_multus answers to both names.
// Nothing else that a shell can do is done (decision 0059).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mnet::install {

// The exit status if the last part of `path`, as which the program was started, is `cp` or `sh`.
std::optional<int> run_as(std::string_view path, const std::vector<std::string>& words);

}  // namespace mnet::install
