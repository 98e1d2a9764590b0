// What surrounds the process, as values: its environment, and which run of the machine this is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mnet::sys {

// A copy of what the process has now, `NAME=value` each, in its order.
std::vector<std::string> environment();

// The value of a variable in such texts; empty if there is none.
std::string variable(const std::vector<std::string>& environment, std::string_view name);

void set_variable(std::vector<std::string>& environment, std::string_view name,
                  std::string_view value);

// Another one after each start of the machine; empty if the kernel does not tell.
std::string boot_id();

}  // namespace mnet::sys
