#include "install/copy_command.h"

#include <unistd.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "sys/copy_file.h"
#include "sys/file.h"
#include "sys/write_all.h"

namespace mnet::install {
namespace {

constexpr std::string_view kUsage =
    "in this image `cp` takes files and a target, and `sh -c` only such commands joined by `&&`; "
    "use install_multus for the rest";

// What a shell would interpret, of all that may stand in a command.
constexpr std::string_view kSpecial = "\"'\\$`;|&<>()*?[]{}~#!\n";

Error refused(std::string_view what) {
  return Error(Errc::kInvalid, cat(go_quoted(what), ": ", kUsage));
}

// -f, the only option taken, says what we always do: a program that runs is replaced.
Result<void> copy(std::vector<std::string> words) {
  std::erase(words, "-f");
  if (words.size() < 2) return refused("cp");
  for (const auto& word : words) {
    if (word.starts_with('-')) return refused(word);
  }
  const std::string target = words.back();
  words.pop_back();
  const bool into_directory = sys::is_directory(target);
  if (!into_directory && words.size() > 1) return refused(target);
  for (const auto& source : words) {
    const std::string name = source.substr(source.rfind('/') + 1);
    const auto copied = sys::copy_file(source, into_directory ? cat(target, "/", name) : target);
    if (!copied) return copied.error();
  }
  return {};
}

// One command of a shell: words without quotes between blanks.
Result<void> run_command(std::string_view command) {
  if (command.find_first_of(kSpecial) != command.npos) return refused(command);
  std::vector<std::string> words;
  for (const auto word : split(command, ' ')) {
    if (!word.empty()) words.emplace_back(word);
  }
  if (words.empty() || words.front() != "cp") return refused(command);
  words.erase(words.begin());
  return copy(std::move(words));
}

// `-c COMMAND`, as in `sh -c "cp A B && cp C D"`.
Result<void> run_shell(const std::vector<std::string>& words) {
  if (words.size() != 2 || words.front() != "-c") return refused("sh");
  std::string_view rest = words.back();
  for (auto end = rest.find("&&"); end != rest.npos; end = rest.find("&&")) {
    MNET_TRY_VOID(run_command(trim(rest.substr(0, end))));
    rest.remove_prefix(end + 2);
  }
  return run_command(trim(rest));
}

}  // namespace

std::optional<int> run_as(std::string_view path, const std::vector<std::string>& words) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (name != "cp" && name != "sh") return std::nullopt;
  const auto done = name == "cp" ? copy(words) : run_shell(words);
  if (done) return 0;
  sys::print(STDERR_FILENO, cat(name, ": ", done.error().text()));
  return 1;
}

}  // namespace mnet::install
