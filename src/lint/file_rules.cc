#include <string>
#include <vector>

#include "cni/conf.h"
#include "cni/types.h"
#include "json/at.h"
#include "json/json.h"
#include "lint/config_rules.h"
#include "lint/finding.h"
#include "lint/objects.h"
#include "lint/rules.h"
#include "model/netconf.h"

namespace mnet::lint {
namespace {

// Multus's own configuration, of the thick and of the thin kind.
void check_own(const json::Object& object, Reporter& report) {
  if (auto read = model::read_netconf(object); !read) report.error("MN060", read.error().text());
}

void check_name(const Configuration& configuration, bool is_list, Reporter& report) {
  if (is_list && configuration.name.ends_with(".conf")) {
    report.value("", "MN061",
                 "a list of plugins in a .conf file: runtimes read one plugin from it; name it "
                 "*.conflist");
  }
  if (!is_list && configuration.name.ends_with(".conflist")) {
    report.value("", "MN061",
                 "a .conflist file needs \"plugins\": name the configuration of one plugin *.conf");
  }
}

void check_cni_file(const Configuration& configuration, const Known& known, Reporter& report) {
  const std::string& text = configuration.text.text();
  const auto object = json::parse_object(text);
  if (!object) return report.error("MN060", object.error().text());
  const bool is_list = object->find("plugins") != nullptr;
  check_name(configuration, is_list, report);
  const std::string type = json::text_of(object->find_folded("type"));
  if (!is_list && cni::is_own_type(type, known.conf.type)) return check_own(*object, report);
  if (is_list) {
    const auto list = cni::parse_conflist(text);
    if (!list) return report.error("MN060", list.error().text());
    if (list->plugins.empty()) return report.value("/plugins", "MN060", "no plugins in the list");
  } else if (auto conf = cni::parse_conf(text); !conf) {
    return report.error("MN060", conf.error().text());
  }
  if (json::text_at(*object, {"name"}).empty()) {
    report.value("", "MN060", "a configuration needs \"name\"");
  }
  check_config(*object, known.options, report);
}

}  // namespace

void check_cni_configuration(const Configuration& configuration, const Known& known,
                             std::vector<Finding>& out) {
  Reporter report(configuration.text, configuration.title, out);
  check_cni_file(configuration, known, report);
}

}  // namespace mnet::lint
