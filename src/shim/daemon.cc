#include "shim/daemon.h"

#include <poll.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/try.h"
#include "shim/connection.h"
#include "shim/response.h"
#include "wire/wire.h"

namespace mnet::shim {
namespace {

void pause(Limits::Time time) { ::poll(nullptr, 0, static_cast<int>(time.count())); }

}  // namespace

Result<Connection> Daemon::reach(Wanted wanted, const Patience& patience) const {
  for (;;) {
    auto checked = check(wanted, std::min(Clock::now() + patience.one_check, patience.until));
    if (checked && *checked && (*checked)->is_quiet()) return **std::move(checked);
    auto connection = checked ? Connection::open(socket_, patience.until)
                              : Result<Connection>(std::move(checked).error());
    if (connection) return connection;
    // A check that is cut short would hide the cause behind its own time-out.
    if (Clock::now() + 2 * patience.between_checks >= patience.until) return connection;
    pause(patience.between_checks);
  }
}

Result<Response> Daemon::send(Connection connection, std::string body, Deadline sent_by,
                              Deadline answered_by) const {
  return connection.post({"/cni", std::move(body), request_id_, sent_by, answered_by});
}

Result<Daemon::Probed> Daemon::probe(const std::string& path, Deadline deadline) const {
  auto connection = Connection::open(socket_, deadline);
  if (!connection) return not_sent(path, connection.error());
  MNET_TRY(auto&& answer,
           connection->post({path, "null", request_id_, deadline, deadline, /*is_last=*/false}));
  Probed probed{.answer = std::move(answer), .connection = std::nullopt};
  if (!probed.answer.is_last) probed.connection = *std::move(connection);
  return probed;
}

Result<std::optional<Connection>> Daemon::check(Wanted wanted, Deadline deadline) const {
  const bool alive_suffices = wanted == Wanted::kAlive;
  auto probed = probe(alive_suffices ? "/healthz" : "/readyz", deadline);
  if (!probed) return std::move(probed).error();
  int status = probed->answer.status;
  if (alive_suffices || status == 200) return std::move(probed->connection);
  if (status != 404) return wire::parse_error(status, probed->answer.body);

  // Daemons up to v4.3.0 have no /readyz; those of v4.0 take no POST on /healthz.
  probed = probe("/healthz", deadline);
  if (!probed) return std::move(probed).error();
  status = probed->answer.status;
  if (status == 200 || status == 405) return std::move(probed->connection);
  return wire::parse_error(status, probed->answer.body);
}

}  // namespace mnet::shim
