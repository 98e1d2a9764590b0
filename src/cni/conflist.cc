#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/conf.h"
#include "cni/conf_parts.h"
#include "cni/version.h"
#include "json/json.h"

namespace mnet::cni {
namespace {

constexpr std::string_view kParsing = "error parsing configuration list: ";

template <typename... Pieces>
Error refused(const Pieces&... pieces) {
  return Error(Errc::kInvalid, cat(kParsing, pieces...));
}

// The type as the original names it in its messages.
std::string_view type_name(const json::Value& value) {
  if (value.as_string() != nullptr) return "string";
  if (value.as_number() != nullptr) return "float64";
  if (value.as_bool() != nullptr) return "bool";
  if (value.as_object() != nullptr) return "map[string]interface {}";
  if (value.as_array() != nullptr) return "[]interface {}";
  return "<nil>";
}

// The greatest version that is not above ours; of equal ones the spelling that plugins list.
class VersionChoice {
 public:
  Result<void> offer(const std::string& text) {
    MNET_TRY(auto&& number, parse_version(text));
    if (number > parse_version(kCurrentVersion).value()) return {};
    if (!best_ || number > *best_ || (number == *best_ && is_supported(text))) {
      best_ = number;
      text_ = text;
    }
    return {};
  }

  std::string or_else(const std::string& fallback) const { return best_ ? text_ : fallback; }

 private:
  std::optional<VersionNumber> best_;
  std::string text_;
};

// Fills a ConfList from its object, member by member in the order of 01, 4.3: which of several
// faults is reported is part of the contract.
class ListReader {
 public:
  ListReader(ConfList& list, Texts texts) : list_(list), texts_(texts) {}

  Result<void> read() {
    MNET_TRY_VOID(read_name());
    MNET_TRY_VOID(read_version());
    MNET_TRY_VOID(read_flag("disableCheck", list_.disable_check));
    MNET_TRY_VOID(read_flag("disableGC", list_.disable_gc));
    MNET_TRY_VOID(read_flag("loadOnlyInlinedPlugins", list_.load_only_inlined_plugins));
    return read_plugins();
  }

 private:
  Result<void> read_name() {
    const json::Value* name = list_.object.find("name");
    if (name == nullptr) return refused("no name");
    if (name->as_string() == nullptr) return refused("invalid name type ", type_name(*name));
    list_.name = *name->as_string();
    return {};
  }

  Result<void> read_version() {
    if (const json::Value* version = list_.object.find("cniVersion")) {
      if (version->as_string() == nullptr) {
        return refused("invalid cniVersion type ", type_name(*version));
      }
      list_.version = *version->as_string();
    }
    const json::Value* versions = list_.object.find("cniVersions");
    if (versions == nullptr) return {};
    if (versions->as_array() == nullptr) {
      return refused("invalid type for cniVersions: ", type_name(*versions));
    }
    return choose_version(*versions->as_array());
  }

  Result<void> choose_version(const json::Array& versions) {
    VersionChoice choice;
    for (std::size_t i = 0; i < versions.size(); ++i) {
      const std::string* text = versions[i].as_string();
      if (text == nullptr) {
        return refused("invalid type for cniVersions index ", i, ": ", type_name(versions[i]));
      }
      if (auto offered = choice.offer(*text); !offered) {
        return refused("invalid cniVersions entry ", excerpt(*text), " at index ", i, ": ",
                       offered.error().text());
      }
    }
    if (!list_.version.empty()) {
      if (auto offered = choice.offer(list_.version); !offered) {
        return refused("invalid cniVersion ", excerpt(list_.version), ": ", offered.error().text());
      }
    }
    list_.version = choice.or_else(list_.version);
    return {};
  }

  Result<void> read_flag(std::string_view key, bool& out) {
    const json::Value* value = list_.object.find(key);
    if (value == nullptr) return {};
    if (const bool* flag = value->as_bool()) {
      out = *flag;
      return {};
    }
    const std::string* text = value->as_string();
    if (text == nullptr) return refused("invalid type ", type_name(*value), " for ", key);
    const std::string lower = to_lower(*text);
    if (lower != "true" && lower != "false") {
      return refused("invalid value ", go_quoted(lower), " for ", key);
    }
    out = lower == "true";
    return {};
  }

  Result<void> read_plugins() {
    const json::Value* plugins = list_.object.find("plugins");
    if (plugins == nullptr) {
      if (!list_.load_only_inlined_plugins) return {};
      return refused("`loadOnlyInlinedPlugins` is true, and no 'plugins' key");
    }
    const json::Array* elements = plugins->as_array();
    if (elements == nullptr) return refused("invalid 'plugins' type ", type_name(*plugins));
    if (elements->empty()) return refused("no plugins in list");
    for (std::size_t i = 0; i < elements->size(); ++i) {
      const json::Value& element = (*elements)[i];
      auto conf = conf_of(texts_ == Texts::kKept ? json::dump(element) : "", element);
      if (!conf) return std::move(conf).error().wrap(cat("failed to parse plugin config ", i));
      list_.plugins.push_back(*std::move(conf));
    }
    return {};
  }

  ConfList& list_;
  Texts texts_;
};

}  // namespace

Result<ConfList> parse_conflist(std::string_view text, Texts texts) {
  auto document = json::parse(text);
  if (!document) return refused(document.error().text());
  ConfList list;
  if (texts == Texts::kKept) list.bytes = text;
  if (json::Object* object = document->as_object()) {
    list.object = std::move(*object);
  } else if (!document->is_null()) {
    return refused("expected an object, got ", document->kind());
  }
  MNET_TRY_VOID(ListReader(list, texts).read());
  return list;
}

Result<ConfList> conflist_of(const PluginConf& conf) {
  const json::Object list{{"name", conf.name},
                          {"cniVersion", conf.version},
                          {"plugins", json::Array{json::Value(conf.object)}}};
  return parse_conflist(json::dump(list));
}

Result<ConfList> with_plugins(const ConfList& list, const std::vector<PluginConf>& more) {
  ConfList out = list;
  if (more.empty()) return out;
  json::Value* present = out.object.find("plugins");
  json::Array plugins;
  if (present != nullptr && present->as_array() != nullptr) plugins = *present->as_array();
  for (const PluginConf& conf : more) {
    plugins.emplace_back(conf.object);
    out.plugins.push_back(conf);
  }
  out.object.set("plugins", std::move(plugins));
  out.bytes = json::dump(out.object);
  return out;
}

}  // namespace mnet::cni
