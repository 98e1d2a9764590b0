#include "kube/config.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/proxy.h"
#include "http/url.h"
#include "json/fields.h"
#include "json/json.h"
#include "sys/environment.h"
#include "sys/file.h"
#include "yaml/yaml.h"

namespace mnet::kube {
namespace {

constexpr std::size_t kMaxKubeconfig = 4u << 20;
constexpr std::size_t kMaxToken = 1u << 20;

// Base64 in a kubeconfig; an empty text is none.
Result<std::string> decoded(const std::string& text, const std::string& path) {
  std::string bytes;
  if (!from_base64(text, bytes)) return Error(Errc::kInvalid, cat(path, ": not base64"));
  return bytes;
}

std::string absolute(const std::string& path, const std::string& directory) {
  if (path.empty() || path.starts_with('/')) return path;
  return clean_path(cat(directory, "/", path));
}

// One named element of `clusters`, `contexts` or `users`, and its path for messages.
struct Element {
  json::Object object;
  std::string path;
};

struct Document {
  json::Object object;
  std::string directory;  // relative paths in it are below this one
};

// One file, or several of which the first that has an entry is right.
class Kubeconfig {
 public:
  explicit Kubeconfig(std::vector<Document> documents) : documents_(std::move(documents)) {}

  Result<Config> read(std::string context) {
    for (const Document& document : documents_) {
      if (!context.empty()) break;
      json::Fields fields(document.object, "", json::Match::kExact);
      fields.read("current-context", context);
      MNET_TRY_VOID(fields.done());
    }
    if (context.empty()) return Error(Errc::kInvalid, "current-context: missing");
    MNET_TRY(auto&& chosen, find("contexts", "context", context));

    std::string cluster, user;
    json::Fields names(chosen.object, chosen.path, json::Match::kExact);
    names.read("cluster", cluster);
    names.read("user", user);
    names.read("namespace", config_.ns);
    MNET_TRY_VOID(names.done());
    MNET_TRY_VOID(read_cluster(cluster));
    if (user.empty()) return std::move(config_);
    MNET_TRY_VOID(read_user(user));
    return std::move(config_);
  }

 private:
  // Paths in what is read next are below the directory of the file that has it.
  Result<Element> find(std::string_view list, std::string_view member, const std::string& name) {
    for (const Document& document : documents_) {
      MNET_TRY(auto&& found, find_in(document.object, list, member, name));
      if (!found) continue;
      directory_ = document.directory;
      return *std::move(found);
    }
    return Error(Errc::kInvalid, cat(list, ": no ", go_quoted(name)));
  }

  static Result<std::optional<Element>> find_in(const json::Object& document, std::string_view list,
                                                std::string_view member, const std::string& name) {
    Element found;
    bool is_found = false;
    json::Fields fields(document, "", json::Match::kExact);
    fields.list(list, [&](const json::Value& value, const std::string& path) -> Result<void> {
      const json::Object* entry = value.as_object();
      if (entry == nullptr) return json::wrong_kind(path, "an object", value);
      std::string own_name;
      json::Fields inner(*entry, path, json::Match::kExact);
      inner.read("name", own_name);
      if (own_name != name || is_found) return inner.done();
      is_found = true;
      found.path = inner.path_of(member);
      inner.object(member, [&](const json::Object& object, const std::string&) -> Result<void> {
        found.object = object;
        return {};
      });
      return inner.done();
    });
    MNET_TRY_VOID(fields.done());
    return is_found ? std::optional(std::move(found)) : std::nullopt;
  }

  Result<void> read_cluster(const std::string& name) {
    MNET_TRY(auto&& cluster, find("clusters", "cluster", name));
    json::Fields fields(cluster.object, cluster.path, json::Match::kExact);
    fields.read("server", config_.server);
    fields.read("insecure-skip-tls-verify", config_.is_insecure);
    fields.read("tls-server-name", config_.tls_server_name);
    fields.read("proxy-url", config_.proxy_url);
    MNET_TRY(auto&& ca, material(fields, "certificate-authority"));
    config_.ca = std::move(ca);
    MNET_TRY_VOID(fields.done());

    const auto url = http::parse_url(config_.server);
    if (!url || !url->scheme.starts_with("http")) {
      return Error(Errc::kInvalid, cat(fields.path_of("server"), ": missing or not a URL"));
    }
    if (!config_.proxy_url.empty() && !http::parse_proxy(config_.proxy_url)) {
      return Error(Errc::kInvalid, cat(fields.path_of("proxy-url"), ": not a URL"));
    }
    if (config_.is_insecure && !config_.ca.empty()) {
      return Error(
          Errc::kInvalid,
          cat(fields.path_of("insecure-skip-tls-verify"),
              ": specifying a root certificates file with the insecure flag is not allowed"));
    }
    return {};
  }

  Result<void> read_user(const std::string& name) {
    MNET_TRY(auto&& user, find("users", "user", name));
    json::Fields fields(user.object, user.path, json::Match::kExact);
    MNET_TRY(auto&& certificate, material(fields, "client-certificate"));
    config_.certificate = std::move(certificate);
    MNET_TRY(auto&& key, material(fields, "client-key"));
    config_.key = std::move(key);
    if (config_.certificate.empty() != config_.key.empty()) {
      fields.fail(config_.key.empty() ? "client-key" : "client-certificate", "missing");
    }
    fields.read("token", config_.token.data);
    fields.read("tokenFile", config_.token.file);
    config_.token.file = absolute(config_.token.file, directory_);
    fields.read("username", config_.username);
    fields.read("password", config_.password);
    read_impersonation(fields);
    fields.object("exec", [this](const json::Object& exec, const std::string& path) {
      return read_exec(exec, path);
    });
    return fields.done();
  }

  void read_impersonation(json::Fields& fields) {
    Impersonation& as = config_.impersonated;
    fields.read("as", as.user);
    fields.read("as-uid", as.uid);
    fields.read("as-groups", as.groups);
    fields.object("as-user-extra", [&as](const json::Object& extra, const std::string& path) {
      json::Fields inner(extra, path, json::Match::kExact);
      for (const auto& [key, value] : extra) inner.read(key, as.extra[key]);
      return inner.done();
    });
  }

  Result<void> read_exec(const json::Object& object, const std::string& path) {
    ExecPlugin plugin;
    std::string mode;
    json::Fields fields(object, path, json::Match::kExact);
    fields.read("apiVersion", plugin.api_version);
    fields.read("command", plugin.command);
    fields.read("args", plugin.args);
    fields.read("provideClusterInfo", plugin.wants_cluster);
    fields.read("interactiveMode", mode);
    fields.list("env",
                [&plugin](const json::Value& value, const std::string& where) -> Result<void> {
                  const json::Object* entry = value.as_object();
                  if (entry == nullptr) return json::wrong_kind(where, "an object", value);
                  auto& [name, text] = plugin.env.emplace_back();
                  json::Fields inner(*entry, where, json::Match::kExact);
                  inner.read("name", name);
                  inner.read("value", text);
                  return inner.done();
                });
    if (plugin.command.empty()) fields.fail("command", "missing");
    if (plugin.command.find('/') != std::string::npos) {
      plugin.command = absolute(plugin.command, directory_);
    }
    if (plugin.api_version != "client.authentication.k8s.io/v1" &&
        plugin.api_version != "client.authentication.k8s.io/v1beta1") {
      fields.fail("apiVersion", cat("unsupported version ", go_quoted(plugin.api_version)));
    }
    if (mode == "Always") fields.fail("interactiveMode", "cannot prompt: there is no terminal");
    config_.exec = std::move(plugin);
    return fields.done();
  }

  // `<key>` names a file, `<key>-data` holds base64.
  Result<Material> material(json::Fields& fields, const std::string& key) {
    Material out;
    std::string data;
    fields.read(key, out.file);
    fields.read(key + "-data", data);
    MNET_TRY(auto&& bytes, decoded(data, fields.path_of(key + "-data")));
    out.data = std::move(bytes);
    out.file = out.data.empty() ? absolute(out.file, directory_) : "";
    return out;
  }

  const std::vector<Document> documents_;
  std::string directory_;
  Config config_;
};

Result<json::Object> parse_document(std::string_view text) {
  MNET_TRY(auto&& documents,
           yaml::parse_documents(text, {.bytes = kMaxKubeconfig, .nodes = 100'000}));
  if (documents.empty()) return Error(Errc::kInvalid, "empty");
  json::Object* document = documents.front().value.as_object();
  if (document == nullptr) return Error(Errc::kInvalid, "not an object");
  return std::move(*document);
}

Result<Document> load_document(const std::string& path) {
  auto text = sys::read_file(path, kMaxKubeconfig);
  if (!text) return std::move(text).error().wrap("kubeconfig");
  // Absolute, as client-go has it: `./login` beside `./kubeconfig` is not `login` of the PATH.
  std::error_code failure;
  const auto directory = std::filesystem::absolute(sys::directory_of(path), failure);
  if (failure) return Error(Errc::kIo, cat("kubeconfig ", path, ": ", failure.message()));
  auto object = parse_document(*text);
  if (!object) return std::move(object).error().wrap(cat("kubeconfig ", path));
  return Document{.object = *std::move(object), .directory = directory.string()};
}

}  // namespace

Result<Config> parse_kubeconfig(std::string_view text, const std::string& directory,
                                std::string context) {
  MNET_TRY(auto&& document, parse_document(text));
  std::vector<Document> one;
  one.push_back({.object = std::move(document), .directory = directory});
  return Kubeconfig(std::move(one)).read(std::move(context));
}

Result<Config> load_kubeconfig(const std::string& path, const std::string& context) {
  return load_kubeconfigs({path}, context);
}

Result<Config> load_kubeconfigs(const std::vector<std::string>& paths, const std::string& context) {
  std::vector<Document> documents;
  for (const std::string& path : paths) {
    MNET_TRY(auto&& document, load_document(path));
    documents.push_back(std::move(document));
  }
  auto config = Kubeconfig(std::move(documents)).read(context);
  if (!config) return std::move(config).error().wrap(cat("kubeconfig ", join(paths, ":")));
  return config;
}

Result<Config> in_cluster_config(const std::vector<std::string>& environment,
                                 const std::string& directory) {
  const std::string host = sys::variable(environment, "KUBERNETES_SERVICE_HOST");
  const std::string port = sys::variable(environment, "KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    return Error(Errc::kNotFound,
                 "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT must be defined");
  }
  const bool is_literal = host.find(':') != std::string::npos && !host.starts_with('[');
  Config config;
  config.server = cat("https://", is_literal ? cat("[", host, "]") : host, ":", port);
  if (const auto url = http::parse_url(config.server); !url) return url.error();
  config.token.file = cat(directory, "/token");
  config.ca.file = cat(directory, "/ca.crt");
  config.ca_may_be_missing = true;
  if (auto token = sys::read_file(config.token.file, kMaxToken); !token) {
    return std::move(token).error().wrap("service account token");
  }
  return config;
}

}  // namespace mnet::kube
