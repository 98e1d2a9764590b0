#include "kube/credentials.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "aio/task.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "http/http.h"
#include "http/tls.h"
#include "kube/config.h"
#include "kube/exec_plugin.h"
#include "kube/token.h"
#include "sys/file.h"

namespace mnet::kube {
namespace {

using Steady = std::chrono::steady_clock;
constexpr std::size_t kMaxFile = 1u << 20;
// A certificate or token is not used in its last seconds: the request takes time, too.
constexpr std::chrono::seconds kSpare{5};

// As client-go writes keys of `as-user-extra`: the API server reads them as a path of a URL.
std::string header_key(std::string_view key) {
  constexpr std::string_view kHex = "0123456789ABCDEF", kAllowed = "!#$&'*+-.^_`|~";
  std::string out;
  for (const char byte : key) {
    const bool is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                          (byte >= '0' && byte <= '9') || kAllowed.contains(byte);
    const auto number = static_cast<unsigned char>(byte);
    out += is_plain ? std::string(1, byte) : cat('%', kHex[number >> 4], kHex[number & 15]);
  }
  return out;
}

}  // namespace

Credentials::Credentials(Config config, Settings settings, Log log)
    : config_(std::move(config)), settings_(std::move(settings)), log_(std::move(log)) {}

aio::Task<Access> Credentials::current() {
  const bool is_fresh = texts_ && Steady::now() - read_at_ < settings_.file_age;
  if (!is_fresh || plugin_is_due()) {
    MNET_CO_TRY([[maybe_unused]] const auto& loaded, co_await load(false));
  }
  co_return Access{.tls = tls_, .tls_number = tls_number_, .headers = headers()};
}

aio::Task<bool> Credentials::renew() { co_return co_await load(true); }

aio::Task<bool> Credentials::load(bool is_forced) {
  const std::uint64_t seen = readings_;
  MNET_CO_TRY([[maybe_unused]] const auto& turn, co_await lock_.lock(""));
  if (readings_ != seen) co_return true;  // another task did it while we waited

  const std::optional<Texts> before = texts_;
  MNET_CO_TRY(auto&& texts, read_files());
  if (config_.exec && (is_forced || plugin_is_due())) {
    auto asked = co_await ask_plugin(texts.ca);
    if (!asked && !plugin_) co_return std::move(asked).error();
    if (!asked) complain(asked.error().text());
  }
  if (plugin_) {
    if (!plugin_->token.empty()) texts.token = plugin_->token;
    if (!plugin_->certificate.empty()) texts.certificate = plugin_->certificate;
    if (!plugin_->key.empty()) texts.key = plugin_->key;
  }
  MNET_CO_TRY_VOID(use(std::move(texts)));
  judge_token();
  read_at_ = Steady::now();
  ++readings_;
  co_return before != texts_;
}

// The files are small and lie in memory or on the node's own disk: not worth a thread.
Result<Credentials::Texts> Credentials::read_files() {
  Texts texts;
  const Texts last = texts_.value_or(Texts{});
  const auto read = [this](const Material& material, std::string_view what,
                           const std::string& known, bool may_be_missing) -> Result<std::string> {
    auto text = text_of(material, what);
    if (text) return text;
    if (known.empty() && !may_be_missing) return text;
    complain(text.error().text());
    return known;
  };
  MNET_TRY(auto&& ca,
           read(config_.ca, "certificate authority", last.ca, config_.ca_may_be_missing));
  texts.ca = std::move(ca);
  MNET_TRY(auto&& certificate,
           read(config_.certificate, "client certificate", last.certificate, false));
  texts.certificate = std::move(certificate);
  MNET_TRY(auto&& key, read(config_.key, "client key", last.key, false));
  texts.key = std::move(key);
  texts.token = read_token(last.token);
  if (texts.token.empty() && !config_.token.empty()) {
    return Error(Errc::kUnavailable, cat("token: open ", config_.token.file, ": no token"));
  }
  return texts;
}

Result<std::string> Credentials::text_of(const Material& material, std::string_view what) {
  if (material.source) {
    auto text = material.source();
    if (!text) return std::move(text).error().wrap(what);
    return text;
  }
  if (material.file.empty()) return material.data;
  auto text = sys::read_file(material.file, kMaxFile);
  if (!text) return std::move(text).error().wrap(what);
  if (text->empty()) return Error(Errc::kInvalid, cat(what, ": ", material.file, " is empty"));
  return text;
}

// The last one that could be read, else the one in place.
std::string Credentials::read_token(const std::string& last) {
  if (config_.token.file.empty()) return config_.token.data;
  auto text = sys::read_file(config_.token.file, kMaxFile);
  if (text && !trim(*text).empty()) return std::string(trim(*text));
  complain(text ? cat("token: ", config_.token.file, " is empty")
                : std::move(text).error().wrap("token").text());
  return last.empty() ? config_.token.data : last;
}

bool Credentials::plugin_is_due() const {
  if (!config_.exec) return false;
  return !plugin_ || (plugin_->expires && settings_.clock->now() + kSpare >= *plugin_->expires);
}

aio::Task<void> Credentials::ask_plugin(std::string ca) {
  MNET_CO_TRY(auto&& answer, co_await run_exec_plugin(config_, std::move(ca), settings_.environment,
                                                      Steady::now() + settings_.exec_time));
  plugin_ = std::move(answer);
  co_return Result<void>();
}

Result<void> Credentials::use(Texts texts) {
  const bool is_tls = config_.server.starts_with("https");
  const bool is_known = texts_ && texts_->ca == texts.ca && texts_->key == texts.key &&
                        texts_->certificate == texts.certificate;
  if (is_tls && !is_known) {
    auto tls = http::make_tls_context({.verifies = !config_.is_insecure,
                                       .ca = texts.ca,
                                       .certificate = texts.certificate,
                                       .key = texts.key});
    // Files that are being replaced may be half of the old and half of the new.
    if (!tls && !tls_) return std::move(tls).error();
    if (!tls) {
      complain(tls.error().text());
      texts_->token = texts.token;
      return {};
    }
    tls_ = *std::move(tls);
    ++tls_number_;
  }
  texts_ = std::move(texts);
  return {};
}

http::Headers Credentials::headers() const {
  http::Headers out;
  if (!texts_->token.empty()) {
    out.emplace_back("Authorization", cat("Bearer ", texts_->token));
  } else if (!config_.username.empty()) {
    const std::string both = cat(config_.username, ":", config_.password);
    out.emplace_back("Authorization", cat("Basic ", to_base64(both)));
  }
  const Impersonation& as = config_.impersonated;
  if (!as.user.empty()) out.emplace_back("Impersonate-User", as.user);
  if (!as.uid.empty()) out.emplace_back("Impersonate-Uid", as.uid);
  for (const std::string& group : as.groups) out.emplace_back("Impersonate-Group", group);
  for (const auto& [key, values] : as.extra) {
    for (const std::string& value : values) {
      out.emplace_back(cat("Impersonate-Extra-", header_key(key)), value);
    }
  }
  return out;
}

// Issuers renew tokens long before a tenth of their life is left (the kubelet: a fifth).
void Credentials::judge_token() {
  const auto now = settings_.clock->now();
  if (texts_->token != judged_token_) {
    judged_token_ = texts_->token;
    token_life_ = life_of_token(judged_token_);
    is_said_to_end_ = is_said_to_have_ended_ = false;
    if (token_life_ && !token_life_->begin) token_life_->begin = now;
  }
  if (!token_life_) return;
  const auto& [begin, end] = *token_life_;
  bool& is_said = now >= end ? is_said_to_have_ended_ : is_said_to_end_;
  if (now < end && end - now >= (end - *begin) / 10) return;
  if (std::exchange(is_said, true)) return;
  const std::string& file = config_.token.file;
  log_.warning(cat("credentials of the Kubernetes API: the token",
                   file.empty() ? "" : cat(" in ", file),
                   now >= end ? " expired at " : " expires at ", rfc3339_utc(end),
                   " and was not renewed; its issuer (the kubelet, for a pod) must renew it"));
}

void Credentials::complain(std::string what) {
  if (what == last_complaint_) return;
  log_.error(cat("credentials of the Kubernetes API: ", what));
  last_complaint_ = std::move(what);
}

}  // namespace mnet::kube
