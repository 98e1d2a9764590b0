#include "nodeconf/primary.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/integer.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/types.h"
#include "cni/version.h"
#include "json/at.h"
#include "json/json.h"
#include "sys/file.h"

namespace mnet::nodeconf {
namespace {

Error as_delegate(const Error& why) {
  return why.with_text(
      cat("failed to load the primary CNI configuration as a multus delegate with error '",
          why.text(), "'"));
}

Error unusable(std::string_view why) { return Error(Errc::kInvalid, std::string(why)); }

Result<void> check_top(std::string_view version) {
  if (strict_version(version)) return {};
  return unusable(cat("couldn't get top level cni version: cniVersion is ", go_quoted(version),
                      ", expected x.y.z"));
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  if (!std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; })) return std::nullopt;
  return parse_integer<std::int64_t>(text);
}

// Whether the primary is older than CHECK while the daemon is not. The order of the checks decides
// which of several faults is named, and is the original's.
Result<bool> check_versions(const json::Value& document, std::string_view top_version) {
  MNET_TRY_VOID(check_top(top_version));
  if (*strict_version(top_version) < cni::kCheckSince) return false;
  const json::Object* object = document.as_object();
  const std::string* text =
      object == nullptr ? nullptr : json::as_string(object->find("cniVersion"));
  if (text == nullptr) return unusable("couldn't get cni version of delegate");
  const auto number = strict_version(*text);
  if (!number) return unusable(cat("invalid cni version of delegate: ", go_quoted(*text)));
  return *number < cni::kCheckSince;
}

// Wider than the list of our names: a primary is chosen without being named, and what begins
// like that is sooner Multus under a further name than a cluster's network.
bool is_multus_type(std::string_view type, std::string_view own_type) {
  return cni::is_own_type(type, own_type) || type.starts_with("multus-");
}

Result<Primary> checked(json::Value document, std::string_view top_version,
                        std::string_view own_type) {
  MNET_TRY(const auto& is_older, check_versions(document, top_version));
  json::Object* object = document.as_object();
  if (object == nullptr) return unusable("couldn't get cni config from delegate");
  if (object->find("type") == nullptr && object->find("plugins") == nullptr) {
    return unusable("not a CNI configuration: it has neither type nor plugins");
  }
  if (const auto where = find_multus(*object, own_type)) {
    return unusable(cat("it is a configuration of Multus itself (", *where,
                        "), not used, to prevent recursive config load"));
  }
  return Primary{.object = std::move(*object), .is_older = is_older};
}

void add_capabilities(const json::Value& holder, const std::string& path, Capabilities& out) {
  const json::Object* object = holder.as_object();
  if (object == nullptr) {
    out.ignored.push_back(cat(path, " is ", holder.kind()));
    return;
  }
  const json::Value* declared = object->find("capabilities");
  if (declared == nullptr || declared->is_null()) return;
  const std::string where = path.empty() ? "capabilities" : cat(path, ".capabilities");
  if (declared->as_object() == nullptr) {
    out.ignored.push_back(cat(where, " is ", declared->kind()));
    return;
  }
  for (const auto& [name, value] : *declared->as_object()) {
    const bool* on = value.as_bool();
    if (on == nullptr && !value.is_null()) {
      out.ignored.push_back(cat(where, ".", name, " is ", value.kind()));
    } else {
      out.values[name] |= on != nullptr && *on;  // null is false, as Go decodes it
    }
  }
}

}  // namespace

std::optional<cni::VersionNumber> strict_version(std::string_view text) {
  const auto parts = split(text, '.');
  if (parts.size() != 3) return std::nullopt;
  const auto major = parse_number(parts[0]);
  const auto minor = parse_number(parts[1]);
  const auto micro = parse_number(parts[2]);
  if (!major || !minor || !micro) return std::nullopt;
  return cni::VersionNumber{*major, *minor, *micro};
}

Result<void> check_top_version(std::string_view version) {
  auto top = check_top(version);
  if (!top) return as_delegate(top.error());
  return top;
}

Result<Primary> parse_primary(std::string_view text, std::string_view top_version,
                              std::string_view own_type) {
  auto document = json::parse(text);
  if (!document) {
    return as_delegate(std::move(document).error().wrap("failed to unmarshall primary CNI config"));
  }
  auto primary = checked(*std::move(document), top_version, own_type);
  if (!primary) return as_delegate(primary.error());
  return primary;
}

Result<Primary> load_primary(const std::string& path, std::string_view top_version,
                             std::string_view own_type) {
  const auto text = sys::read_file(path);
  if (!text) {
    return as_delegate(
        text.error().wrap(cat("failed to read the cluster primary CNI config ", path)));
  }
  return parse_primary(*text, top_version, own_type);
}

std::optional<std::string> find_multus(const json::Object& config, std::string_view own_type) {
  auto found = cni::find_type(
      config, [own_type](std::string_view type) { return is_multus_type(type, own_type); });
  if (!found) return std::nullopt;
  return std::move(found->path);
}

Capabilities capabilities_of(const json::Object& primary) {
  Capabilities out;
  const json::Value* plugins = primary.find("plugins");
  const json::Array* list = json::as_array(plugins);
  if (plugins != nullptr && !plugins->is_null() && list == nullptr) {
    out.ignored.push_back(cat("plugins is ", plugins->kind()));
  }
  if (list == nullptr || list->empty()) {
    add_capabilities(primary, "", out);
    return out;
  }
  for (std::size_t i = 0; i < list->size(); ++i) {
    add_capabilities((*list)[i], cat("plugins[", i, "]"), out);
  }
  return out;
}

Result<std::string> network_name(const json::Object& primary) {
  const json::Value* name = primary.find("name");
  const std::string* text = json::as_string(name);
  if (text != nullptr && !text->empty()) return *text;
  return Error(Errc::kInvalid,
               cat("could not override the network name: the name of the primary CNI configuration "
                   "is ",
                   name == nullptr   ? "missing"
                   : text != nullptr ? "empty"
                                     : name->kind()));
}

Result<bool> force_version(const std::string& path, std::string_view version) {
  const auto text = sys::read_file(path);
  if (!text) {
    return text.error().wrap(cat("failed to read the cluster primary CNI config ", path));
  }
  auto object = json::parse_object(*text);
  if (!object) {
    return Error(Errc::kInvalid,
                 cat("failed to unmarshall cni config ", path, ": ", object.error().text()));
  }
  const json::Value* there = object->find("cniVersion");
  if (there != nullptr && there->as_string() != nullptr && *there->as_string() == version) {
    return false;
  }
  object->set("cniVersion", version);
  auto written = sys::rewrite_file(path, json::dump(*std::move(object), {.escape_html = false}));
  if (!written) return std::move(written).error().wrap("failed to force the cni version");
  return true;
}

}  // namespace mnet::nodeconf
