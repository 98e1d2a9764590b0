// A turn for work that no runtime waits for: in the line of requests, behind all of them.
#pragma once

#include <cstdint>
#include <memory>

#include "admission/admission.h"
#include "aio/task.h"
#include "attach/attach.h"

namespace mnet::daemon {

enum class TurnOf : std::uint8_t { kDel, kOther };

// `requests` must outlive the task. The turn ends with what this yields.
aio::Task<std::shared_ptr<void>> take_background_turn(admission::Admission* requests,
                                                      attach::Request request, TurnOf what);

}  // namespace mnet::daemon
