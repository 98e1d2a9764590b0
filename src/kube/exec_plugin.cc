#include "kube/exec_plugin.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/all.h"
#include "aio/program_output.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/integer.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/fields.h"
#include "json/json.h"
#include "json/secrets.h"
#include "kube/config.h"
#include "sys/environment.h"
#include "sys/spawn.h"

namespace mnet::kube {
namespace {

constexpr std::size_t kMaxOutput = 1u << 20;

// A number of exactly these digits.
bool read_digits(std::string_view& text, std::size_t digits, int& out) {
  if (text.size() < digits) return false;
  out = parse_integer<int>(text.substr(0, digits)).value_or(-1);
  if (out < 0) return false;
  text.remove_prefix(digits);
  return true;
}

bool read_mark(std::string_view& text, char mark) {
  if (!text.starts_with(mark)) return false;
  text.remove_prefix(1);
  return true;
}

// `Z` or `+02:00`, to the end; in seconds.
std::optional<int> read_offset(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  const int sign = text.starts_with('-') ? -1 : 1;
  int hours = 0, minutes = 0;
  if (!read_mark(text, sign < 0 ? '-' : '+') || !read_digits(text, 2, hours) ||
      !read_mark(text, ':') || !read_digits(text, 2, minutes) || !text.empty()) {
    return std::nullopt;
  }
  return sign * (hours * 3600 + minutes * 60);
}

std::string exec_info(const Config& config, const std::string& ca) {
  json::Object spec{{"interactive", false}};
  if (config.exec->wants_cluster) {
    json::Object cluster{{"server", config.server}};
    if (!config.tls_server_name.empty()) cluster.set("tls-server-name", config.tls_server_name);
    if (config.is_insecure) cluster.set("insecure-skip-tls-verify", true);
    if (!ca.empty()) cluster.set("certificate-authority-data", to_base64(ca));
    if (!config.proxy_url.empty()) cluster.set("proxy-url", config.proxy_url);
    spec.set("cluster", std::move(cluster));
  }
  return json::dump(json::Object{{"kind", "ExecCredential"},
                                 {"apiVersion", config.exec->api_version},
                                 {"spec", std::move(spec)}});
}

Result<std::string> find_command(const std::string& command,
                                 const std::vector<std::string>& environment) {
  if (command.find('/') != std::string::npos) return command;
  const std::string path = sys::variable(environment, "PATH");
  for (const std::string_view folder : split(path, ':')) {
    std::string candidate = cat(folder, "/", command);
    if (folder.starts_with('/') && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return Error(Errc::kNotFound, cat("executable ", command, " not found in PATH"));
}

aio::Task<std::string> run_program(sys::Program program) {
  MNET_CO_TRY(auto&& output, co_await aio::run_program(std::move(program), kMaxOutput));
  if (!output.status.success()) {
    co_return Error(Errc::kDenied, cat(output.status.text(), ": ",
                                       json::scrubbed(trim(output.err).substr(0, 500))));
  }
  co_return std::move(output.out);
}

}  // namespace

std::optional<std::chrono::system_clock::time_point> parse_rfc3339(std::string_view text) {
  std::tm time{};
  int year = 0, month = 0;
  const bool is_good =
      read_digits(text, 4, year) && read_mark(text, '-') && read_digits(text, 2, month) &&
      read_mark(text, '-') && read_digits(text, 2, time.tm_mday) &&
      (read_mark(text, 'T') || read_mark(text, 't')) && read_digits(text, 2, time.tm_hour) &&
      read_mark(text, ':') && read_digits(text, 2, time.tm_min) && read_mark(text, ':') &&
      read_digits(text, 2, time.tm_sec);
  if (!is_good || month < 1 || month > 12 || time.tm_mday > 31 || time.tm_hour > 23) {
    return std::nullopt;
  }
  if (read_mark(text, '.')) {
    text.remove_prefix(std::min(text.find_first_not_of("0123456789"), text.size()));
  }
  const auto offset = read_offset(text);
  if (!offset) return std::nullopt;
  time.tm_year = year - 1900;
  time.tm_mon = month - 1;
  // The clock counts nanoseconds, which ends in 2262: what lies beyond is as good as that.
  using Point = std::chrono::system_clock::time_point;
  constexpr auto kFirst = std::chrono::ceil<std::chrono::seconds>(Point::min().time_since_epoch());
  constexpr auto kLast = std::chrono::floor<std::chrono::seconds>(Point::max().time_since_epoch());
  return Point(std::clamp(std::chrono::seconds(::timegm(&time) - *offset), kFirst, kLast));
}

Result<ExecCredential> parse_exec_credential(std::string_view text) {
  MNET_TRY(auto&& document, json::parse_object(text, 50));
  ExecCredential out;
  std::string kind, expires;
  json::Fields fields(document, "", json::Match::kExact);
  fields.read("kind", kind);
  if (kind != "ExecCredential") fields.fail("kind", cat("unexpected ", go_quoted(kind)));
  fields.object("status", [&](const json::Object& status, const std::string& path) {
    json::Fields inner(status, path, json::Match::kExact);
    inner.read("token", out.token);
    inner.read("clientCertificateData", out.certificate);
    inner.read("clientKeyData", out.key);
    inner.read("expirationTimestamp", expires);
    if (out.certificate.empty() != out.key.empty()) {
      inner.fail("clientKeyData", "certificate and key must both be set");
    }
    if (out.token.empty() && out.certificate.empty()) inner.fail("token", "missing");
    return inner.done();
  });
  if (fields.find("status") == nullptr) fields.fail("status", "missing");
  MNET_TRY_VOID(fields.done());
  if (!expires.empty()) {
    out.expires = parse_rfc3339(expires);
    if (!out.expires) return Error(Errc::kInvalid, "status.expirationTimestamp: not a time");
  }
  return out;
}

aio::Task<ExecCredential> run_exec_plugin(Config config, std::string ca,
                                          std::vector<std::string> environment,
                                          aio::Deadline deadline) {
  const ExecPlugin& plugin = *config.exec;
  for (const auto& [name, value] : plugin.env) sys::set_variable(environment, name, value);
  sys::set_variable(environment, "KUBERNETES_EXEC_INFO", exec_info(config, ca));
  auto path = find_command(plugin.command, environment);
  if (!path) co_return std::move(path).error().wrap("exec plugin");

  sys::Program program{.path = *path, .env = std::move(environment)};
  program.args = plugin.args;
  auto output = co_await aio::with_deadline(run_program(std::move(program)), deadline);
  if (!output) co_return std::move(output).error().wrap(cat("exec plugin ", *path));
  auto credential = parse_exec_credential(*output);
  if (!credential) co_return std::move(credential).error().wrap(cat("exec plugin ", *path));
  co_return credential;
}

}  // namespace mnet::kube
