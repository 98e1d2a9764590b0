// What we show the API server and whom we trust, as of now: files are read again when they change,
// exec plugins are asked again when their answer expires (03, 5.1).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "aio/keyed_lock.h"
#include "aio/task.h"
#include "base/clock.h"
#include "base/log.h"
#include "http/http.h"
#include "http/tls.h"
#include "kube/config.h"
#include "kube/exec_plugin.h"
#include "kube/token.h"

namespace mnet::kube {

struct Access {
  http::TlsContextPtr tls;   // null: plain http
  std::uint64_t tls_number;  // another one for each change of `tls`
  http::Headers headers;     // Authorization and impersonation
};

class Credentials {
 public:
  struct Settings {
    std::chrono::milliseconds file_age{60'000};  // older readings are renewed
    std::chrono::seconds exec_time{60};
    std::vector<std::string> environment = {};  // of exec plugins
    const WallClock* clock = &WallClock::system();
  };
  Credentials(Config config, Settings settings, Log log);

  // For the next request. What cannot be read any more stays as it was, and is reported once; an
  // error only if there never was anything usable.
  aio::Task<Access> current();

  // The server refused us, or we did not trust it: everything is read and asked for again. Whether
  // that changed anything.
  aio::Task<bool> renew();

  // Of the token in use; none if there is none, or if it does not say.
  const std::optional<TokenLife>& token_life() const { return token_life_; }

  // Whether current() may have to run a program.
  bool asks_plugin() const { return config_.exec.has_value(); }

 private:
  struct Texts {
    std::string ca, certificate, key, token;
    friend bool operator==(const Texts&, const Texts&) = default;
  };

  aio::Task<bool> load(bool is_forced);
  Result<Texts> read_files();
  Result<std::string> text_of(const Material& material, std::string_view what);
  std::string read_token(const std::string& last);
  aio::Task<void> ask_plugin(std::string ca);
  bool plugin_is_due() const;
  Result<void> use(Texts texts);
  http::Headers headers() const;
  void judge_token();
  void complain(std::string what);

  const Config config_;
  const Settings settings_;
  const Log log_;
  aio::KeyedLock lock_;  // one reading at a time; a task that waited finds it done
  std::optional<Texts> texts_;
  std::optional<ExecCredential> plugin_;
  std::string judged_token_;
  std::optional<TokenLife> token_life_;
  // What was said of this token; once for each.
  bool is_said_to_end_ = false, is_said_to_have_ended_ = false;
  http::TlsContextPtr tls_;
  std::uint64_t tls_number_ = 0;
  std::uint64_t readings_ = 0;
  std::chrono::steady_clock::time_point read_at_ = {};
  std::string last_complaint_;
};

}  // namespace mnet::kube
