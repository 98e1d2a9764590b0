// One call of the runtime: what the shim asks the daemon, and what it makes of the answer (03, 3.3
// to 3.5).
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "cni/result.h"
#include "shim/config.h"
#include "shim/connection.h"
#include "shim/response.h"
#include "shim/shim.h"
#include "skel/skel.h"

namespace mnet::shim {

// What differs between the commands.
struct Verb;

class Call {
 public:
  // Both must outlive the call.
  Call(const Surroundings& surroundings, const skel::CmdArgs& args);

  // Prints the result on success.
  Result<void> add() const;
  // Succeeds unless the daemon wants the DEL to be tried again, or it is down and the DEL cannot
  // even be remembered for it.
  Result<void> del() const;
  Result<void> check() const;
  Result<void> gc() const;
  Result<void> status() const;

 private:
  Result<Config> read_config(const Verb& verb) const;
  Result<Connection> reach(const Verb& verb, const Config& config) const;
  Result<Response> send(const Verb& verb, const Config& config, Connection connection) const;
  Result<Response> ask(const Verb& verb, const Config& config) const;
  Result<void> ask_and_forget(const Verb& verb) const;
  Result<cni::NetResult> ask_for_result(const Config& config) const;
  Result<void> answered_del(const Config& config, const Response& response) const;
  Result<void> remember_del(const Config& config, const Error& why) const;

  std::string body() const;
  Deadline end_of(const Verb& verb, const Config& config) const;
  // The error as the runtime sees it, logged on its way out.
  Error failed(const Verb& verb, const Error& error) const;
  Error unavailable(const Verb& verb, std::string_view said, const Error& why) const;

  const Surroundings& surroundings_;
  const skel::CmdArgs& args_;
  Deadline started_;
  std::string request_id_;
  Log log_;
};

}  // namespace mnet::shim
