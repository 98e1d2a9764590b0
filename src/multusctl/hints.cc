#include "multusctl/hints.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/text.h"
#include "multusctl/commands.h"
#include "multusctl/daemons.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {
namespace {

// Empty if the command that the words begin with asks no daemons, or finds them by itself.
std::string where_daemons_are(std::string_view words, const Invocation& invocation) {
  const Command* hinted = find_command(words.substr(0, words.find(' ')));
  if (hinted == nullptr || invocation.command == nullptr) return {};
  const std::string ns = daemon_namespace(invocation);
  const std::string_view flag = daemon_flag(*hinted);
  if (flag.empty() || ns == kDaemonNamespace) return {};
  const char letter = flag_of(flag).letter;
  return letter == 0 ? cat(" --", flag, " ", ns) : cat(" -", letter, " ", ns);
}

}  // namespace

std::string as_called(std::string_view text, const Invocation& invocation) {
  constexpr std::string_view kBegin = "`multusctl ";
  std::string out;
  for (std::size_t at = text.find(kBegin); at != std::string_view::npos; at = text.find(kBegin)) {
    out += cat(text.substr(0, at), "`", invocation.program, " ");
    text.remove_prefix(at + kBegin.size());
    const std::string_view words = text.substr(0, std::min(text.find('`'), text.size()));
    out += cat(words, where_daemons_are(words, invocation));
    text.remove_prefix(words.size());
  }
  return cat(out, text);
}

}  // namespace mnet::multusctl
