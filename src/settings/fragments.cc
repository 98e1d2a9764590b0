#include "settings/fragments.h"

#include <cerrno>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "sys/file.h"

namespace mnet::settings {
namespace {

constexpr std::string_view kEnding = ".json";
constexpr std::size_t kMostBytes = 1u << 20;  // of each; a ConfigMap takes no more in all
constexpr std::size_t kMostFragments = 100;
constexpr std::string_view kUnreadable = "failed to read a fragment of the daemon configuration";

Result<Fragment> load_fragment(std::string path) {
  const auto text = sys::read_file(path, kMostBytes);
  if (!text) return text.error().wrap(kUnreadable);
  auto document = json::parse_object(*text);
  if (!document) return std::move(document).error().wrap(path).wrap(kUnreadable);
  return Fragment{.path = std::move(path), .document = *std::move(document)};
}

}  // namespace

std::string fragments_directory(const std::string& config_file) {
  const std::string_view path = config_file;
  return cat(path.ends_with(kEnding) ? path.substr(0, path.size() - kEnding.size()) : path, ".d");
}

Result<Fragments> load_fragments(const std::string& config_file) {
  const std::string directory = fragments_directory(config_file);
  const auto entries = sys::list_directory(directory);
  if (!entries && entries.error().os_errno() == ENOENT) return Fragments();
  if (!entries) return entries.error().wrap(kUnreadable);
  Fragments found;
  for (const sys::Entry& entry : *entries) {
    if (entry.name.starts_with('.')) continue;
    std::string path = cat(directory, "/", entry.name);
    if (!entry.name.ends_with(kEnding)) {
      found.warnings.push_back(cat(path, " has no effect: its name does not end in ", kEnding));
      continue;
    }
    if (found.read.size() == kMostFragments) {
      return Error(Errc::kInvalid, cat(directory, ": more than ", kMostFragments, " fragments"));
    }
    MNET_TRY(auto&& fragment, load_fragment(std::move(path)));
    found.read.push_back(std::move(fragment));
  }
  return found;
}

}  // namespace mnet::settings
