#include "daemon/background_turn.h"

#include <memory>
#include <string>
#include <utility>

#include "admission/admission.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "base/try.h"
#include "chain/slots.h"

namespace mnet::daemon {

aio::Task<std::shared_ptr<void>> take_background_turn(admission::Admission* requests,
                                                      attach::Request request, TurnOf what) {
  chain::SlotRequest turn;
  turn.ticket = request.ticket;
  turn.ns = std::string(attach::kBackground);
  turn.container_id = request.container_id;
  turn.is_del = what == TurnOf::kDel;
  MNET_CO_TRY(auto&& slot, co_await requests->acquire(std::move(turn)));
  co_return std::make_shared<chain::Slot>(std::move(slot));
}

}  // namespace mnet::daemon
