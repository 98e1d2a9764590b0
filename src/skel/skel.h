// The front of a CNI plugin program: environment, stdin, version gates, error output (01, 2).
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

// A handler that is not set succeeds silently after the checks.
struct Plugin {
  Handler add{}, del{}, check{}, gc{}, status{};
  std::vector<std::string> versions{};  // supported, in this order
  std::string about{};
  // A variable that is set for all that this program starts; empty: none. Where it is set already,
  // the program was started by one of its own delegates, with a text that anybody may have written:
  // no handler runs. DEL succeeds, the rest is refused with code 7.
  std::string own_mark{};
};

// What the program was started with and where it answers; a test fills it with its own.
struct Front {
  std::function<std::optional<std::string>(std::string_view name)> env;
  std::function<Result<std::string>()> read_stdin;
  std::function<Result<void>(std::string_view)> write_stdout;
  std::function<void(std::string_view)> write_stderr;

  // The process's own. Ignores SIGPIPE from then on, and keeps the numbers of closed standard
  // descriptors from being given to other files.
  static Front of_process();
};

// A longer configuration is refused with code 5: no real one is near it, and the daemon would
// refuse it too.
inline constexpr std::size_t kMaxStdin = 16u << 20;

// Does what 01, 2.2 to 2.6 say and returns the exit status. Handlers print their own result with
// print_result. The namespace check comes before the handler, for ADD and DEL alike. An exception
// that reaches this function is answered with code 999.
int run(const Plugin& plugin, const Front& front);

// The result in `version`, as 01, 3.4 wants it on stdout.
Result<void> print_result(const cni::NetResult& result, std::string_view version,
                          const Front& front);

}  // namespace mnet::skel
