// The outer part of a CNI plugin program: environment, stdin, version checks, error output (01, 2).
// Blocking.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cni/result.h"

namespace mnet::skel {

struct CmdArgs {
  std::string container_id, netns, ifname, args, path, netns_override;
  std::string stdin_data;  // exactly as read
};

using Handler = std::function<Result<void>(const CmdArgs&)>;

// A command whose handler is not set succeeds silently after the checks.
struct Plugin {
  Handler add{}, del{}, check{}, gc{}, status{};
  std::vector<std::string> versions{};  // supported, in this order
  std::string about{};
  // Name of a variable that this program sets for all programs that it starts; empty: none. If it
  // is already set, one of our own delegates started this program, with a configuration that a
  // tenant may have written: no handler runs. DEL succeeds, other commands are refused with code 7.
  std::string own_mark{};
};

// The input and output of the program; tests provide their own.
struct Front {
  std::function<std::optional<std::string>(std::string_view name)> env;
  std::function<Result<std::string>()> read_stdin;
  std::function<Result<void>(std::string_view)> write_stdout;
  std::function<void(std::string_view)> write_stderr;

  // Those of the process. Ignores SIGPIPE from then on, and keeps the numbers of closed standard
  // descriptors from being reused for other files.
  static Front of_process();
};

// A longer configuration is refused with code 5: no real one comes near it, and the daemon would
// refuse it, too.
inline constexpr std::size_t kMaxStdin = 16u << 20;

// Runs the plugin as 01, 2.2 to 2.6 require and returns the exit status. Handlers print their own
// result with print_result. The namespace is checked before the handler runs, for ADD and DEL
// alike. An exception that reaches this function is answered with code 999.
int run(const Plugin& plugin, const Front& front);

// Prints the result in `version`, in the form of 01, 3.4.
Result<void> print_result(const cni::NetResult& result, std::string_view version,
                          const Front& front);

}  // namespace mnet::skel
