// The daemon as the shim sees it: is it there, and what does it answer (03, 3.3)?
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "shim/connection.h"
#include "shim/response.h"

namespace mnet::shim {

// How long things may take; tests make them short.
struct Limits {
  using Time = std::chrono::milliseconds;
  Time reach_add{10'000};  // ADD and CHECK: until a daemon is ready
  Time reach_gc{1'000};    // GC and STATUS
  Time reach_del{3'000};   // DEL: check and connect together
  Time one_check{5'000};   // one check of ADD and CHECK
  Time between_checks{100};
  Time whole_add{210'000};  // the whole call, ADD and CHECK
  Time whole_del{120'000};
  Time whole_status{10'000};  // for GC the time to connect and send
};

class Daemon {
 public:
  Daemon(std::string socket, std::string request_id)
      : socket_(std::move(socket)), request_id_(std::move(request_id)) {}

  enum class Wanted : std::uint8_t {
    kReady,  // /readyz says 200; a daemon that does not know it is asked for /healthz
    kAlive,  // /healthz is answered at all: a daemon that drains still serves a DEL
  };
  struct Patience {
    Deadline until;
    Limits::Time one_check;
    Limits::Time between_checks;
  };
  // Asks until the daemon is as wanted and a connection to it stands: the one of the last question,
  // where the daemon keeps that. The error is the last cause.
  Result<Connection> reach(Wanted wanted, const Patience& patience) const;

  Result<Response> send(Connection connection, std::string body, Deadline sent_by,
                        Deadline answered_by) const;

 private:
  // What was asked, and on which connection, if that can be used again.
  struct Probed {
    Response answer;
    std::optional<Connection> connection;
  };
  Result<Probed> probe(const std::string& path, Deadline deadline) const;
  Result<std::optional<Connection>> check(Wanted wanted, Deadline deadline) const;

  std::string socket_;
  std::string request_id_;
};

}  // namespace mnet::shim
