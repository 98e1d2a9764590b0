#include "autoconfig_thin.h"

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "group.h"
#include "json/json.h"
#include "sys/file.h"
#include "thin_entrypoint/conf.h"
#include "thin_entrypoint/options.h"

namespace mnet::vectors {
namespace {

Result<std::vector<std::string>> words_of_options(const json::Object& input) {
  MNET_TRY(const auto& options, object_of(input, "options"));
  std::vector<std::string> words;
  for (const auto& [name, value] : options) {
    const std::string text = value.as_string() == nullptr ? json::dump(value) : *value.as_string();
    words.push_back(cat("--", name, "=", text));
  }
  MNET_TRY(const auto& dir, text_of(input, "dir"));
  words.push_back(cat("--multus-autoconfig-dir=", dir));
  return words;
}

}  // namespace

Result<json::Object> generate_thin(const json::Object& input) {
  MNET_TRY(const auto& words, words_of_options(input));
  thin_entrypoint::Options options;
  const auto parsed = thin_entrypoint::make_flags(options).parse(words);
  if (!parsed) return Error(Errc::kBug, parsed.error().text());
  MNET_TRY(const auto& primary, thin_entrypoint::choose_primary(options));
  MNET_TRY(const auto& text, sys::read_file(primary.path));
  MNET_TRY(const auto& conf, thin_entrypoint::make_conf(options, primary.path, text));
  auto config = json::parse(conf.text);
  if (!config) return Error(Errc::kBug, cat("no JSON: ", conf.text));
  return json::Object{
      {"file", conf.file}, {"config", *std::move(config)}, {"config_text", conf.text}};
}

}  // namespace mnet::vectors
