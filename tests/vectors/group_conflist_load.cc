#include <string>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/conf.h"
#include "cni/version.h"
#include "confdir/confdir.h"
#include "groups.h"
#include "json/json.h"

namespace mnet::vectors {
namespace {

Result<json::Object> outcome(const Result<cni::ConfList>& list) {
  if (!list) return list.error();
  json::Array plugins;
  for (const cni::PluginConf& plugin : list->plugins) plugins.emplace_back(plugin.object);
  return json::Object{
      {"list", json::Object{{"name", list->name},
                            {"cniVersion", list->version},
                            {"disableCheck", list->disable_check},
                            {"disableGC", list->disable_gc},
                            {"loadOnlyInlinedPlugins", list->load_only_inlined_plugins},
                            {"plugins", std::move(plugins)}}}};
}

Result<json::Object> from_dir(const json::Object& input) {
  MNET_TRY(auto&& dir, text_of(input, "dir"));
  MNET_TRY(auto&& network, text_of(input, "network"));
  return outcome(confdir::load_network(dir, network));
}

Result<json::Object> from_text(const json::Object& input) {
  MNET_TRY(auto&& config, text_of(input, "config"));
  return outcome(cni::parse_conflist(config));
}

// What the list's bytes say must be what it consists of: ADD runs the one, DEL reads the other.
Result<json::Object> chain_file(const json::Object& input) {
  MNET_TRY(auto&& dir, text_of(input, "dir"));
  MNET_TRY(auto&& file, text_of(input, "file"));
  const auto chain = confdir::load_chain(cat(dir, "/", file));
  if (!chain) return chain.error();
  auto stored = outcome(cni::parse_conflist(chain->bytes));
  auto loaded = outcome(chain);
  if (stored && json::Value(*stored) == json::Value(*loaded)) return loaded;
  return Error(Errc::kBug, cat("the bytes are another list: ", chain->bytes));
}

Result<json::Object> inject(const json::Object& input) {
  cni::PluginConf conf;
  MNET_TRY(auto&& config, text_of(input, "config"));
  conf.bytes = std::move(config);
  MNET_TRY(auto&& values, object_of(input, "values"));
  MNET_TRY(auto&& injected, cni::inject(conf, values));
  MNET_TRY(auto&& document, json::parse(injected.bytes));
  return json::Object{{"config", std::move(document)}};
}

Result<json::Object> version_parse(const json::Object& input) {
  MNET_TRY(auto&& text, text_of(input, "version"));
  MNET_TRY(const auto& version, cni::parse_version(text));
  return json::Object{{"parts", json::Array{version.major, version.minor, version.micro}}};
}

Result<json::Object> version_compare(const json::Object& input) {
  MNET_TRY(auto&& a_text, text_of(input, "a"));
  MNET_TRY(auto&& b_text, text_of(input, "b"));
  MNET_TRY(const auto& a, cni::parse_version(a_text));
  MNET_TRY(const auto& b, cni::parse_version(b_text));
  return json::Object{{"greater_or_equal", a >= b}, {"greater", a > b}};
}

}  // namespace

Group conflist_load_group() {
  return {.name = "conflist-load",
          .operations = {{"dir", from_dir},
                         {"text", from_text},
                         {"chain-file", chain_file},
                         {"inject", inject},
                         {"version-parse", version_parse},
                         {"version-compare", version_compare}}};
}

}  // namespace mnet::vectors
