#include <array>
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
#include "cni/address.h"
#include "cni/family.h"
#include "cni/result.h"
#include "cni/version.h"
#include "json/at.h"
#include "json/count.h"
#include "json/fields.h"
#include "json/json.h"

namespace mnet::cni {
namespace {

// One object of a result: the two kinds of members that json::Fields does not know.
class ElementFields : public json::Fields {
 public:
  ElementFields(const json::Object& object, std::string path)
      : Fields(object, std::move(path)), object_(object) {}

  using Fields::read;

  // Empty means none.
  void read(std::string_view key, std::optional<IpAddress>& out) {
    const json::Value* value = find(key);
    if (value == nullptr) return;
    if (const std::string* text = value->as_string(); text != nullptr && text->empty()) return;
    parse(key, *value, &IpAddress::parse, out);
  }

  // Null and empty are errors here, unlike elsewhere (01, 0.3 rule 4).
  void read(std::string_view key, std::optional<Cidr>& out) {
    const json::Value* value = object_.find_folded(key);
    if (value != nullptr) parse(key, *value, &Cidr::parse, out);
  }

 private:
  template <typename T>
  void parse(std::string_view key, const json::Value& value, Result<T> (*parse)(std::string_view),
             std::optional<T>& out) {
    const std::string empty;
    const std::string* text = value.is_null() ? &empty : value.as_string();
    if (text == nullptr) return fail(key, cat("expected a string, got ", value.kind()));
    auto parsed = parse(*text);
    if (!parsed) return fail(key, parsed.error().text());
    out = *std::move(parsed);
  }

  const json::Object& object_;
};

// Reads one document; collects what was incomplete and therefore dropped.
class Reader {
 public:
  explicit Reader(Family family) : family_(family) {}

  Result<NetResult> read(const json::Object& document) {
    json::Fields fields(document);
    fields.read("cniVersion", result_.version);
    if (family_ == Family::kLegacy) {
      read_legacy_ip(fields, "ip4", result_.ip4);
      read_legacy_ip(fields, "ip6", result_.ip6);
    } else {
      read_list(fields, "interfaces", result_.interfaces, &Reader::read_interface);
      read_list(fields, "ips", result_.ips, &Reader::read_ip);
      read_list(fields, "routes", result_.routes, &Reader::read_route);
    }
    fields.object("dns", [&](const json::Object& object, std::string path) -> Result<void> {
      MNET_TRY(auto&& dns, read_dns(object, std::move(path)));
      result_.dns = std::move(dns);
      return {};
    });
    MNET_TRY_VOID(fields.done());
    return std::move(result_);
  }

 private:
  void drop(std::string_view path, std::string_view missing) {
    result_.dropped.push_back(cat(path, " has no ", missing));
  }

  // `read` yields an element, or none if it is incomplete.
  template <typename T>
  void read_list(json::Fields& fields, std::string_view key, std::vector<T>& out,
                 Result<std::optional<T>> (Reader::*read)(const json::Object&,
                                                          const std::string&)) {
    fields.list(key, [&](const json::Value& value, const std::string& path) -> Result<void> {
      const json::Object* object = value.as_object();
      if (object == nullptr) return json::wrong_kind(path, "an object", value);
      MNET_TRY(auto&& element, (this->*read)(*object, path));
      if (element) out.push_back(*std::move(element));
      return {};
    });
  }

  void read_legacy_ip(json::Fields& fields, std::string_view key, std::optional<LegacyIp>& out) {
    fields.object(key, [&](const json::Object& object, const std::string& path) -> Result<void> {
      LegacyIp legacy;
      std::optional<Cidr> ip;
      ElementFields element(object, path);
      element.read("ip", ip);
      element.read("gateway", legacy.gateway);
      read_list(element, "routes", legacy.routes, &Reader::read_route);
      MNET_TRY_VOID(element.done());
      if (!ip) {
        drop(path, "ip");
        return {};
      }
      legacy.ip = *ip;
      out = std::move(legacy);
      return {};
    });
  }

  Result<std::optional<Interface>> read_interface(const json::Object& object,
                                                  const std::string& path) {
    Interface interface;
    json::Fields fields(object, path);
    fields.read("name", interface.name);
    fields.read("mac", interface.mac);
    fields.read("sandbox", interface.sandbox);
    if (family_ == Family::kSorted) {
      fields.read("mtu", interface.mtu);
      fields.read("socketPath", interface.socket_path);
      fields.read("pciID", interface.pci_id);
    }
    MNET_TRY_VOID(fields.done());
    return interface;
  }

  Result<std::optional<IpConfig>> read_ip(const json::Object& object, const std::string& path) {
    IpConfig ip;
    std::optional<Cidr> address;
    ElementFields element(object, path);
    if (family_ == Family::kListed) element.read("version", ip.version);
    element.read("interface", ip.interface);
    element.read("address", address);
    element.read("gateway", ip.gateway);
    MNET_TRY_VOID(element.done());
    if (!address) {
      drop(path, "address");
      return std::nullopt;
    }
    ip.address = *address;
    return ip;
  }

  Result<std::optional<Route>> read_route(const json::Object& object, const std::string& path) {
    Route route;
    std::optional<Cidr> dst;
    ElementFields element(object, path);
    element.read("dst", dst);
    element.read("gw", route.gw);
    element.read("mtu", route.mtu);
    element.read("advmss", route.advmss);
    element.read("priority", route.priority);
    element.read("table", route.table);
    element.read("scope", route.scope);
    MNET_TRY_VOID(element.done());
    if (!dst) {
      drop(path, "dst");
      return std::nullopt;
    }
    route.dst = *dst;
    return route;
  }

  Family family_;
  NetResult result_;
};

// As the original lists them: the empty first one is the version that may be left out.
std::string_view versions_text(Family family) {
  constexpr std::array<std::string_view, 3> kTexts = {"[ 0.1.0 0.2.0]", "[0.3.0 0.3.1 0.4.0]",
                                                      "[1.0.0 1.1.0]"};
  return kTexts[static_cast<std::size_t>(family)];
}

Result<NetResult> read_object(const json::Object& document, std::string_view version) {
  const auto family = version.empty() ? Family::kLegacy : find_family(version);
  if (!family) {
    return Error(Errc::kInvalid, cat("unsupported CNI result version ", go_quoted(version)));
  }
  MNET_TRY(auto&& result, Reader(*family).read(document));
  if (result.version.empty() && *family == Family::kLegacy) result.version = kOldestVersion;
  if (find_family(result.version) != family) {
    return Error(Errc::kInvalid,
                 cat("result type supports ", versions_text(*family),
                     " but unmarshalled CNIVersion is ", go_quoted(result.version)));
  }
  return result;
}

}  // namespace

std::optional<Family> find_family(std::string_view version) {
  if (!is_supported(version)) return std::nullopt;
  if (version.starts_with("1.")) return Family::kSorted;
  return version < "0.3.0" ? Family::kLegacy : Family::kListed;
}

Result<Dns> read_dns(const json::Object& object, std::string path) {
  Dns dns;
  json::Fields fields(object, std::move(path));
  fields.read("nameservers", dns.nameservers);
  fields.read("domain", dns.domain);
  fields.read("search", dns.search);
  fields.read("options", dns.options);
  MNET_TRY_VOID(fields.done());
  return dns;
}

bool NetResult::has_content() const {
  return !interfaces.empty() || !ips.empty() || ip4.has_value() || ip6.has_value();
}

Result<NetResult> read_result(const json::Value& document, std::string_view version) {
  if (document.is_null()) return read_object({}, version);
  const json::Object* object = document.as_object();
  if (object == nullptr) return json::wrong_kind("result", "an object", document);
  return read_object(*object, version);
}

Result<NetResult> read_result(const json::Value& document) {
  constexpr std::string_view kDecoding = "decoding version from network config";
  std::string version;
  if (!document.is_null()) {
    const json::Object* object = document.as_object();
    if (object == nullptr) return json::wrong_kind(kDecoding, "an object", document);
    json::Fields fields(*object);
    fields.read("cniVersion", version);
    if (auto done = fields.done(); !done) return std::move(done).error().wrap(kDecoding);
  }
  return read_result(document, version);
}

Result<std::optional<NetResult>> read_prev_result(const json::Object& config) {
  constexpr std::string_view kParsing = "could not parse prevResult";
  std::string config_version;
  json::Fields fields(config);
  fields.read("cniVersion", config_version);
  MNET_TRY_VOID(fields.done());
  const json::Value* value = fields.find("prevResult");
  if (value == nullptr) return std::nullopt;
  const json::Object* object = value->as_object();
  if (object == nullptr) return json::wrong_kind(kParsing, "an object", *value);

  json::Object document = *object;
  if (document.find_folded("cniVersion") == nullptr) document.append("cniVersion", config_version);
  auto result = read_result(document, config_version);
  if (!result) return std::move(result).error().wrap(kParsing);
  return *std::move(result);
}

Result<NetResult> read_cached_result(const json::Value& document, std::string_view config_version) {
  MNET_TRY(auto&& result, read_result(document));
  auto converted = convert(result, config_version);
  if (!converted) {
    return std::move(converted).error().wrap(
        cat("failed to convert cached result to config version ", go_quoted(config_version)));
  }
  return converted;
}

Result<NetResult> read_plugin_output(std::string_view output, std::string_view config_version) {
  constexpr std::string_view kUnmarshal = "failed to unmarshal raw result";
  if (output.size() > kMaxResultBytes) {
    return Error(Errc::kInvalid,
                 cat(kUnmarshal, ": ", output.size(), " bytes, more than ", kMaxResultBytes));
  }
  if (const std::size_t values = json::count(output).values; values > kMaxResultValues) {
    return Error(Errc::kInvalid,
                 cat(kUnmarshal, ": ", values, " values, more than ", kMaxResultValues));
  }
  auto document = json::parse(output);
  if (!document) return std::move(document).error().wrap(kUnmarshal);
  if (document->is_null()) document = json::Object();
  json::Object* object = document->as_object();
  if (object == nullptr) return json::wrong_kind(kUnmarshal, "an object", *document);

  const std::string* text = json::as_string(object->find("cniVersion"));
  std::string version(config_version.empty() ? kOldestVersion : config_version);
  if (text != nullptr && !text->empty()) version = *text;
  object->set_folded("cniVersion", version);
  return read_object(*object, version);
}

}  // namespace mnet::cni
