#include "shim/daemon.h"

#include <poll.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/result.h"
#include "shim/connection.h"
#include "shim/response.h"
#include "wire/wire.h"

namespace mnet::shim {
namespace {

void pause(Limits::Time time) { ::poll(nullptr, 0, static_cast<int>(time.count())); }

}  // namespace

Result<Connection> Daemon::reach(Wanted wanted, const Patience& patience) const {
  for (;;) {
    const auto checked = check(wanted, std::min(Clock::now() + patience.one_check, patience.until));
    auto connection =
        checked ? Connection::open(socket_, patience.until) : Result<Connection>(checked.error());
    if (connection) return connection;
    // A check that is cut short would hide the cause behind its own time-out.
    if (Clock::now() + 2 * patience.between_checks >= patience.until) return connection;
    pause(patience.between_checks);
  }
}

Result<Response> Daemon::send(Connection connection, std::string body, Deadline sent_by,
                              Deadline answered_by) const {
  return std::move(connection).post({"/cni", std::move(body), request_id_, sent_by, answered_by});
}

Result<Response> Daemon::probe(const std::string& path, Deadline deadline) const {
  auto connection = Connection::open(socket_, deadline);
  if (!connection) return not_sent(path, connection.error());
  return (*std::move(connection)).post({path, "null", request_id_, deadline, deadline});
}

Result<void> Daemon::check(Wanted wanted, Deadline deadline) const {
  const bool alive_suffices = wanted == Wanted::kAlive;
  auto answer = probe(alive_suffices ? "/healthz" : "/readyz", deadline);
  if (!answer) return std::move(answer).error();
  if (alive_suffices || answer->status == 200) return {};
  if (answer->status != 404) return wire::parse_error(answer->status, answer->body);

  // Daemons up to v4.3.0 have no /readyz; those of v4.0 take no POST on /healthz.
  answer = probe("/healthz", deadline);
  if (!answer) return std::move(answer).error();
  if (answer->status == 200 || answer->status == 405) return {};
  return wire::parse_error(answer->status, answer->body);
}

}  // namespace mnet::shim
