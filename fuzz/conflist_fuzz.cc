// Any bytes as a configuration: refused, or read into one whose bytes hold all that it consists of.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cni/conf.h"
#include "json/json.h"

namespace {

using mnet::cni::ConfList;
using mnet::cni::PluginConf;

void check_conf(const PluginConf& conf) {
  if (conf.type.empty()) std::abort();
  const auto text = mnet::cni::plugin_stdin(conf, "net", "1.1.0", mnet::json::Object(),
                                            {{"mac", "x"}, {"ips", nullptr}});
  if (!text || !mnet::cni::parse_conf(*text)) std::abort();
  const auto injected = mnet::cni::inject(conf, {{"name", "other"}});
  if (!injected || injected->name != "other" || injected->type != conf.type) std::abort();
}

void check_same(const ConfList& list) {
  const auto again = mnet::cni::parse_conflist(list.bytes);
  if (!again || again->name != list.name || again->version != list.version ||
      again->plugins.size() != list.plugins.size()) {
    std::abort();
  }
}

void check_list(const ConfList& list) {
  check_same(list);
  for (const PluginConf& conf : list.plugins) check_conf(conf);
  if (list.plugins.empty()) return;
  const auto longer = mnet::cni::with_plugins(list, {list.plugins.front()});
  if (!longer || longer->plugins.size() != list.plugins.size() + 1) std::abort();
  check_same(*longer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto list = mnet::cni::parse_conflist(text)) check_list(*list);
  if (const auto conf = mnet::cni::parse_conf(text)) {
    check_conf(*conf);
    const auto list = mnet::cni::conflist_of(*conf);
    if (!list || list->plugins.size() != 1) std::abort();
    check_list(*list);
  }
  return 0;
}
