// What operators ask of a daemon by hand, beside GET /status (docs/wire.md): its pending DELs, a
// round of upkeep now, a CHECK of everything that is attached. multusctl asks.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/admission.h"
#include "aio/blocking_pool.h"
#include "aio/task.h"
#include "attach/attach.h"
#include "base/log.h"
#include "base/result.h"
#include "daemon/pending_del_replay.h"
#include "daemon/request.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "upkeep/rule.h"
#include "upkeep/upkeep.h"

namespace mnet::daemon {

struct OperationsNeeds {
  aio::BlockingPool& pool;
  attach::Attachments& core;
  admission::Admission& requests;
  PendingDelReplay& pending;
  upkeep::Upkeep& upkeep;
  upkeep::Rule& rule;
  RequestRules rules;
  std::function<Arrival()> next_arrival;
};

class Operations {
 public:
  // All must outlive it and its tasks.
  Operations(OperationsNeeds needs, Log log) : needs_(std::move(needs)), log_(std::move(log)) {}

  // The answer's JSON text; `path` is one of these.
  static constexpr std::string_view kList = "/pending", kRetry = "/pending/retry",
                                    kDrop = "/pending/drop", kGc = "/gc", kCheck = "/check";
  aio::Task<std::string> run(std::string path, std::string body);

 private:
  aio::Task<json::Object> list_pending();
  aio::Task<json::Object> retry_pending(json::Object wanted);
  aio::Task<json::Object> drop_pending(json::Object wanted);
  aio::Task<json::Object> reconcile(json::Object wanted);
  aio::Task<json::Object> check();
  aio::Task<void> check_one(std::string cni_dir, std::string container_id, json::Array* out);
  aio::Task<bool> check_container(std::string cni_dir, std::string container_id, std::string* pod);
  // An error once the daemon stops: it does not wait for the rest.
  Result<void> still_serves() const;
  Result<attach::Request> make_check(const std::string& cni_dir,
                                     const model::AttachmentRecord& record) const;

  OperationsNeeds needs_;
  Log log_;
};

}  // namespace mnet::daemon
