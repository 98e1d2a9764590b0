#include "autoconfig_thin.h"

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "group.h"
#include "json/json.h"
#include "sys/file.h"
#include "thin_entrypoint/conf.h"
#include "thin_entrypoint/options.h"

namespace mnet::vectors {
namespace {

Result<std::vector<std::string>> words_of_options(const json::Object& input) {
  const auto options = object_of(input, "options");
  if (!options) return options.error();
  std::vector<std::string> words;
  for (const auto& [name, value] : *options) {
    const std::string text = value.as_string() == nullptr ? json::dump(value) : *value.as_string();
    words.push_back(cat("--", name, "=", text));
  }
  const auto dir = text_of(input, "dir");
  if (!dir) return dir.error();
  words.push_back(cat("--multus-autoconfig-dir=", *dir));
  return words;
}

}  // namespace

Result<json::Object> generate_thin(const json::Object& input) {
  const auto words = words_of_options(input);
  if (!words) return words.error();
  const auto options = thin_entrypoint::parse_options(*words);
  if (!options) return Error(Errc::kBug, options.error().text());
  const auto primary = thin_entrypoint::choose_primary(*options);
  if (!primary) return primary.error();
  const auto text = sys::read_file(primary->path);
  if (!text) return text.error();
  const auto conf = thin_entrypoint::make_conf(*options, primary->path, *text);
  if (!conf) return conf.error();
  auto config = json::parse(conf->text);
  if (!config) return Error(Errc::kBug, cat("no JSON: ", conf->text));
  return json::Object{
      {"file", conf->file}, {"config", *std::move(config)}, {"config_text", conf->text}};
}

}  // namespace mnet::vectors
