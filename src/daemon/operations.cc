#include "daemon/operations.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/attach.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/args.h"
#include "daemon/background_turn.h"
#include "daemon/pending_del_replay.h"
#include "daemon/request.h"
#include "json/at.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/netconf.h"
#include "store/store.h"
#include "upkeep/decision.h"
#include "upkeep/rule.h"
#include "upkeep/upkeep.h"
#include "wire/wire.h"

namespace mnet::daemon {
namespace {

using Waiting = PendingDelReplay::Waiting;

constexpr int kVersion = 1;
constexpr std::string_view kEnding = ".json";

std::string pod_text(const std::string& ns, const std::string& name) {
  return name.empty() ? std::string() : cat(ns, "/", name);
}

// The file without its ending: container and interface.
std::string id_of(const std::string& file) {
  return file.ends_with(kEnding) ? file.substr(0, file.size() - kEnding.size()) : file;
}

json::Object to_json(const Waiting& one) {
  return {{"id", id_of(one.file)},
          {"cniDir", one.cni_dir},
          {"container", one.container_id},
          {"interface", one.ifname},
          {"pod", pod_text(one.pod_ns, one.pod_name)},
          {"since", rfc3339_utc(one.written)},
          {"error", one.why},
          {"nextTrySeconds", one.next ? json::Value(one.next->count()) : json::Value()}};
}

// Finds one by the beginning of its id, if no other id begins so.
Result<Waiting> find_pending(const std::vector<Waiting>& all, const std::string& id) {
  if (id.empty()) return Error(Errc::kInvalid, "which one? `id` is missing");
  const Waiting* found = nullptr;
  for (const Waiting& one : all) {
    if (id_of(one.file) == id) return one;
    if (!one.file.starts_with(id)) continue;
    if (found != nullptr) {
      return Error(Errc::kInvalid,
                   cat("several pending DELs begin with ", excerpt(id), "; write more of the id"));
    }
    found = &one;
  }
  if (found == nullptr) {
    return Error(Errc::kNotFound, cat("no pending DEL begins with ", excerpt(id)));
  }
  return *found;
}

json::Object outcome_of(const Waiting& one, const Result<void>& done) {
  json::Object out = to_json(one);
  out.set("ok", done.has_value());
  out.set("error", done ? std::string() : done.error().text());
  return out;
}

json::Object to_json(const upkeep::Upkeep::Found& found) {
  return {{"container", found.container_id},
          {"pod", pod_text(found.pod_ns, found.pod_name)},
          {"action", name_of(found.action)},
          {"reason", found.reason},
          {"ok", !found.failure.has_value()},
          {"error", found.failure ? found.failure->text() : std::string()}};
}

json::Object pending_answer(json::Array list) {
  return {{"version", kVersion}, {"pending", std::move(list)}};
}

std::string master_ifname(const model::AttachmentRecord& record) {
  const auto master = std::ranges::find(record.attachments, model::Source::kCluster,
                                        &model::RecordedAttachment::source);
  return master == record.attachments.end() ? std::string("eth0") : master->ifname;
}

aio::Task<json::Object> no_operation(std::string path) {
  co_return Error(Errc::kBug, cat("no operation has the path ", path));
}

}  // namespace

aio::Task<std::string> Operations::run(std::string path, std::string body) {
  json::Object wanted;
  if (!trim(body).empty()) {
    MNET_CO_TRY(wanted, json::parse_object(body));
  }
  aio::Task<json::Object> task = path == kList    ? list_pending()
                                 : path == kRetry ? retry_pending(std::move(wanted))
                                 : path == kDrop  ? drop_pending(std::move(wanted))
                                 : path == kGc    ? reconcile(std::move(wanted))
                                 : path == kCheck ? check()
                                                  : no_operation(path);
  MNET_CO_TRY(const auto& answer, co_await std::move(task));
  co_return cat(json::dump(answer), "\n");
}

aio::Task<json::Object> Operations::list_pending() {
  MNET_CO_TRY(const auto& all, co_await needs_.pending.describe({}));
  json::Array list;
  for (const Waiting& one : all.records) list.push_back(to_json(one));
  json::Object answer = pending_answer(std::move(list));
  if (all.left_out > 0) answer.set("more", static_cast<std::int64_t>(all.left_out));
  co_return answer;
}

// Without an id all of them, one after the other.
aio::Task<json::Object> Operations::retry_pending(json::Object wanted) {
  const std::string id = json::text_at(wanted, {"id"});
  MNET_CO_TRY(auto&& all, co_await needs_.pending.describe(id));
  if (wanted.find("id") != nullptr) {
    MNET_CO_TRY(auto&& one, find_pending(all.records, id));
    all.records = {std::move(one)};
  }
  json::Array list;
  for (const Waiting& one : all.records) {
    MNET_CO_TRY_VOID(still_serves());
    const auto done = co_await needs_.pending.retry(one.cni_dir, one.file);
    if (!done && done.error().code() == Errc::kCancelled) co_return done.error();
    list.push_back(outcome_of(one, done));
  }
  co_return pending_answer(std::move(list));
}

aio::Task<json::Object> Operations::drop_pending(json::Object wanted) {
  const std::string id = json::text_at(wanted, {"id"});
  MNET_CO_TRY(const auto& all, co_await needs_.pending.describe(id));
  MNET_CO_TRY(const auto& one, find_pending(all.records, id));
  const auto done = co_await needs_.pending.drop(one.cni_dir, one.file);
  if (!done) co_return done.error();
  json::Array list;
  list.push_back(outcome_of(one, done));
  co_return pending_answer(std::move(list));
}

Result<void> Operations::still_serves() const {
  if (!needs_.pending.is_stopped()) return {};
  return Error(Errc::kUnavailable, "the daemon is stopping; try again");
}

aio::Task<json::Object> Operations::reconcile(json::Object wanted) {
  using Extent = upkeep::Upkeep::Extent;
  const Extent extent = json::is_true(wanted.find("dryRun")) ? Extent::kRehearsal : Extent::kAll;
  MNET_CO_TRY(const auto& found, co_await needs_.upkeep.round_by_hand(extent));
  json::Array list;
  for (const auto& one : found) list.push_back(to_json(one));
  co_return json::Object{{"version", kVersion},
                         {"dryRun", extent == Extent::kRehearsal},
                         {"containers", std::move(list)}};
}

aio::Task<json::Object> Operations::check() {
  json::Array list;
  const auto directories = needs_.pending.directories();
  for (const std::string& directory : directories) {
    MNET_CO_TRY(const auto& ids, co_await needs_.pool.run([directory] {
      return store::AttachmentRecords(directory).list_oldest_first();
    }));
    for (const std::string& id : ids) {
      MNET_CO_TRY_VOID(co_await check_one(directory, id, &list));
    }
  }
  co_return json::Object{{"version", kVersion}, {"containers", std::move(list)}};
}

// Only containers that live: upkeep deals with what is half done or gone.
aio::Task<void> Operations::check_one(std::string cni_dir, std::string container_id,
                                      json::Array* out) {
  MNET_CO_TRY_VOID(still_serves());
  std::string pod;
  auto checked = co_await check_container(std::move(cni_dir), container_id, &pod);
  if (!checked && checked.error().code() == Errc::kCancelled) co_return checked.error();
  if (checked && !*checked) co_return Result<void>();
  out->push_back(json::Object{{"container", container_id},
                              {"pod", std::move(pod)},
                              {"ok", checked.has_value()},
                              {"error", checked ? std::string() : checked.error().text()}});
  co_return Result<void>();
}

// False if there is nothing to check.
aio::Task<bool> Operations::check_container(std::string cni_dir, std::string container_id,
                                            std::string* pod) {
  MNET_CO_TRY(const auto& record, co_await needs_.rule.find_record(cni_dir, container_id));
  if (!record || record->state != model::RecordState::kReady) co_return false;
  *pod = pod_text(record->pod_ns, record->pod_name);
  MNET_CO_TRY(const auto& where, co_await needs_.rule.find_namespace(record->netns, record->boot_id,
                                                                     record->netns_inode));
  if (where != upkeep::Namespace::kSame) co_return false;
  MNET_CO_TRY(auto&& request, make_check(cni_dir, *record));
  MNET_CO_TRY([[maybe_unused]] const auto& turn,
              co_await take_background_turn(&needs_.requests, request, TurnOf::kOther));
  MNET_CO_TRY([[maybe_unused]] const auto& reported,
              co_await needs_.core.check(std::move(request)));
  co_return true;
}

// A CHECK as the runtime sends it, with checkNetworks "all": any network that fails makes it fail.
Result<attach::Request> Operations::make_check(const std::string& cni_dir,
                                               const model::AttachmentRecord& record) const {
  const wire::Call call{.command = "CHECK",
                        .container_id = record.container_id,
                        .netns = record.netns,
                        .ifname = master_ifname(record),
                        .args = cni::args_text(record.cni_args),
                        .path = record.cni_path};
  // The record says which networks it has.
  const json::Object config{
      {"name", "multus-cni-network"},
      {"cniVersion", "1.0.0"},
      {"cniDir", cni_dir},
      {"delegates", json::Array{json::Object{{"name", "on-record"}, {"type", "on-record"}}}}};
  const std::string body = wire::pending_del_body(call, json::dump(config));
  MNET_TRY(auto&& read, read_cni_call(body, needs_.rules, needs_.next_arrival(), log_));
  MNET_TRY(auto&& request, std::move(read.request));
  MNET_TRY_VOID(check_cni_dir(request, cni_dir));
  auto conf = std::make_shared<model::NetConf>(*request.conf);
  conf->check_networks = model::CheckNetworks::kAll;
  request.conf = std::move(conf);
  return std::move(request);
}

}  // namespace mnet::daemon
