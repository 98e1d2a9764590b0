#include "cert_approver/approver.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "aio/cancel.h"
#include "aio/sleep.h"
#include "aio/task.h"
#include "base/backoff.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "certs/event.h"
#include "certs/judge.h"
#include "certs/signing_request.h"
#include "json/json.h"
#include "kube/kube.h"
#include "kube/list_reader.h"
#include "kube/pages.h"
#include "kube/sink.h"
#include "kube/watch_event.h"

namespace mnet::cert_approver {
namespace {

using Clock = std::chrono::steady_clock;
using Decision = certs::Verdict::Decision;

// If another client always comes first, it is a failure like others.
constexpr int kTriesInConflict = 5;
constexpr std::size_t kPage = 500;
// Our daemons' requests have 2 to 4 KiB. Anyone who may make requests may make them larger.
constexpr std::size_t kLargest = 16u << 10;
// A node has one request or two; one that makes more waits for the others of its own. What is not
// kept comes by again with the next list or scan.
constexpr std::size_t kMostOfRequester = 32;
constexpr std::size_t kMostUnreadable = 500;  // that are remembered as logged
// Decisions go on while events cannot be written: clusters may keep these in a storage of their
// own. Of decisions beyond that only the log tells.
constexpr std::size_t kMostTasks = 100;

std::string path_of(const std::string& name) {
  return cat(certs::kRequestsPath, "/", kube::query_value(name));
}

std::string selector() { return cat("spec.signerName=", certs::kSigner); }

kube::ReflectorSettings watch_settings(kube::ReflectorSettings settings) {
  settings.path = certs::kRequestsPath;
  settings.field_selector = selector();
  settings.largest = kLargest;
  return settings;
}

}  // namespace

json::Object with_decision(json::Object request, const certs::Verdict& verdict) {
  const bool is_granted = verdict.decision == Decision::kApprove;
  json::Object condition{{"type", is_granted ? "Approved" : "Denied"},
                         {"status", "True"},
                         {"reason", is_granted ? "AutoApproved" : "CSRDenied"},
                         {"message", verdict.message}};
  json::Value* status = request.find("status");
  if (status == nullptr || status->as_object() == nullptr) {
    status = &request.set("status", json::Object());
  }
  json::Value* conditions = status->as_object()->find("conditions");
  if (conditions == nullptr || conditions->as_array() == nullptr) {
    conditions = &status->as_object()->set("conditions", json::Array());
  }
  conditions->as_array()->emplace_back(std::move(condition));
  return request;
}

class Approver::Queue final : public kube::Sink {
 public:
  explicit Queue(Approver& owner) : owner_(owner) {}

  void begin() override { seen_.clear(); }
  // Only of what we know: anyone who may make requests chooses how many there are.
  Result<void> add(const json::Object& object) override {
    owner_.consider(object);
    if (auto meta = kube::parse_meta(object); meta && owner_.knows(meta->name)) {
      seen_.insert(std::move(meta->name));
    }
    return {};
  }
  void commit() override {
    const auto is_gone = [this](const auto& item) { return !seen_.contains(item.first); };
    std::erase_if(owner_.pending_, is_gone);
    std::erase_if(owner_.unreadable_, is_gone);
    seen_.clear();
  }
  Result<void> change(kube::EventType type, const json::Object& object) override {
    if (type != kube::EventType::kDeleted) {
      owner_.consider(object);
    } else {
      MNET_TRY(auto&& meta, kube::parse_meta(object));
      owner_.forget(meta.name);
    }
    return {};
  }

 private:
  Approver& owner_;
  std::set<std::string> seen_;
};

Approver::Approver(const aio::asio::any_io_executor& executor, std::shared_ptr<kube::Api> api,
                   ApproverSettings settings, const Log& log)
    : settings_(std::move(settings)),
      log_(log),
      api_(std::move(api)),
      queue_(std::make_unique<Queue>(*this)),
      reflector_(*api_, watch_settings(settings_.watch), *queue_, log, settings_.random),
      tasks_(executor, log) {}

Approver::~Approver() = default;

aio::Task<void> Approver::run() {
  tasks_.spawn("watch of certificate requests", reflector_.run());
  tasks_.spawn("list of certificate requests", rescan_for_ever());
  auto ended = co_await work();
  tasks_.cancel();
  (void)co_await aio::shielded(tasks_.join());
  co_return ended;
}

// What cannot be read is not ours: our daemons' requests can.
void Approver::consider(const json::Object& object) {
  auto request = certs::parse_signing_request(object);
  if (!request) return;
  const std::string& name = request->meta.name;
  const certs::Verdict verdict = certs::judge(*request);
  if (verdict.decision == Decision::kIgnore) {
    pending_.erase(name);
    if (verdict.is_unreadable) tell_unreadable(*request, verdict.message);
    return;
  }
  const auto found = pending_.find(name);
  if (found != pending_.end() && found->second.uid == request->uid) return;
  const auto of_requester = std::ranges::count_if(
      pending_, [&](const auto& one) { return one.second.requester == request->username; });
  if (found == pending_.end() && static_cast<std::size_t>(of_requester) >= kMostOfRequester) return;
  pending_.insert_or_assign(
      name,
      Item{.uid = request->uid,
           .requester = request->username,
           .arrival = ++arrivals_,
           .backoff = Backoff(settings_.first_pause, settings_.longest_pause, settings_.random)});
  changes_.notify_all();
}

bool Approver::knows(const std::string& name) const {
  return pending_.contains(name) || unreadable_.contains(name);
}

void Approver::forget(const std::string& name) {
  pending_.erase(name);
  unreadable_.erase(name);
}

// It comes by again with each change, list and scan.
void Approver::tell_unreadable(const certs::SigningRequest& request, const std::string& why) {
  if (unreadable_.size() >= kMostUnreadable && !unreadable_.contains(request.meta.name)) return;
  const auto [told, is_new] = unreadable_.try_emplace(request.meta.name, request.uid);
  if (!is_new && told->second == request.uid) return;
  told->second = request.uid;
  log_.verbose(cat("request ", request.meta.name, " of ", go_quoted(request.username),
                   " is left alone: ", why));
}

aio::Task<void> Approver::work() {
  for (;;) {
    const aio::Deadline next = start_due();
    auto changed = co_await changes_.wait(next);
    if (!changed && changed.error().code() != Errc::kTimeout) co_return changed;
  }
}

// Nodes take turns, whatever the number and the names of their requests.
Approver::Items::value_type* Approver::next_due(std::chrono::steady_clock::time_point now) {
  std::map<std::string_view, std::size_t> running;
  for (const auto& [name, item] : pending_) running[item.requester] += item.is_running ? 1 : 0;
  std::erase_if(turns_, [&](const auto& one) { return !running.contains(one.first); });
  const auto rank = [&](const Item& item) {
    return std::tuple(running[item.requester], turns_[item.requester], item.arrival);
  };
  Items::value_type* first = nullptr;
  for (auto& one : pending_) {
    if (one.second.is_running || one.second.due > now) continue;
    if (first == nullptr || rank(one.second) < rank(first->second)) first = &one;
  }
  return first;
}

// When the next one is due.
aio::Deadline Approver::start_due() {
  const auto now = Clock::now();
  auto running = static_cast<std::size_t>(
      std::ranges::count_if(pending_, [](const auto& item) { return item.second.is_running; }));
  std::vector<std::pair<std::string, std::string>> due;
  while (running < settings_.at_once) {
    Items::value_type* next = next_due(now);
    if (next == nullptr) break;
    ++running;
    next->second.is_running = true;
    turns_[next->second.requester] = ++turn_;
    due.emplace_back(next->first, next->second.uid);
  }
  for (const auto& [name, uid] : due) tasks_.spawn(cat("request ", name), handle(name, uid));
  aio::Deadline next = aio::kNoDeadline;
  // What is due already waits for the end of one that runs.
  for (const auto& [name, item] : pending_) {
    if (!item.is_running && item.due > now) next = std::min(next, item.due);
  }
  return next;
}

aio::Task<void> Approver::handle(std::string name, std::string uid) {
  auto decided = co_await decide(name);
  if (!decided && decided.error().code() == Errc::kCancelled) co_return decided;
  const auto found = pending_.find(name);
  // Gone meanwhile, or another one of the same name: others wait for the place all the same.
  if (found == pending_.end() || found->second.uid != uid) {
    changes_.notify_all();
    co_return Result<void>();
  }
  if (decided) {
    pending_.erase(found);
  } else {
    ++counters_.failures;
    const auto pause = found->second.backoff.next();
    found->second.due = Clock::now() + pause;
    found->second.is_running = false;
    log_.error(cat("request ", name, ": ", decided.error().text(), "; next try in ", pause.count(),
                   " ms"));
  }
  changes_.notify_all();
  co_return Result<void>();
}

aio::Task<void> Approver::decide(std::string name) {
  for (int tries = 0; tries < kTriesInConflict; ++tries) {
    MNET_CO_TRY(auto&& is_done, co_await try_decide(name));
    if (is_done) co_return Result<void>();
    ++counters_.conflicts;
  }
  co_return Error(Errc::kConflict, "other clients keep changing it");
}

aio::Task<bool> Approver::try_decide(std::string name) {
  const aio::Deadline deadline = Clock::now() + settings_.call_time;
  MNET_CO_TRY(auto&& fresh,
              co_await api_->call({.path = path_of(name), .max_bytes = kLargest}, deadline));
  if (fresh.status == 404) co_return true;
  if (!fresh.ok()) co_return fresh.error();
  auto object = json::parse_object(fresh.body);
  if (!object) co_return Error(Errc::kProtocol, object.error().text());
  MNET_CO_TRY(auto&& request, certs::parse_signing_request(*object));
  const certs::Verdict verdict = certs::judge(request);
  if (verdict.decision == Decision::kIgnore) co_return true;

  kube::Call call{.method = "PUT", .path = cat(path_of(name), "/", certs::kDecisionEndpoint)};
  call.body = json::dump(with_decision(*std::move(object), verdict));
  MNET_CO_TRY(auto&& reply, co_await api_->call(std::move(call), deadline));
  if (reply.status == 404) co_return true;
  if (reply.status == 409) co_return false;
  if (!reply.ok()) co_return reply.error();
  told(request, verdict);
  co_return true;
}

void Approver::told(const certs::SigningRequest& request, const certs::Verdict& verdict) {
  const bool is_granted = verdict.decision == Decision::kApprove;
  ++(is_granted ? counters_.approved : counters_.denied);
  const std::string name = go_quoted(request.meta.name);
  certs::Happening what{.kind = "CertificateSigningRequest",
                        .api_version = "certificates.k8s.io/v1"};
  what.name = request.meta.name;
  what.uid = request.uid;
  what.is_warning = !is_granted;
  what.reason = is_granted ? "CSRApproved" : "CSRDenied";
  what.message = is_granted
                     ? cat("CSR ", name, " has been approved by csr-approver")
                     : cat("The CSR ", name, " has been denied by csr-approver: ", verdict.message);
  what.component = "cert-approver";
  log_.verbose(cat(what.message, is_granted ? " for " : "; requested by ", request.username));
  if (tasks_.size() >= kMostTasks) return;
  tasks_.spawn(cat("event of ", request.meta.name), certs::post_event(api_, std::move(what)));
}

aio::Task<void> Approver::rescan_for_ever() {
  for (;;) {
    // Two approvers that started together do not list together for ever.
    const auto pause = settings_.rescan * (0.9 + 0.2 * settings_.random());
    MNET_CO_TRY_VOID(co_await aio::sleep_for(std::chrono::round<std::chrono::milliseconds>(pause)));
    auto scanned = co_await rescan();
    if (scanned) continue;
    if (scanned.error().code() == Errc::kCancelled) co_return scanned;
    ++counters_.failures;
    log_.error("cannot list the certificate requests", scanned.error());
  }
}

aio::Task<void> Approver::rescan() {
  const std::string path =
      cat(certs::kRequestsPath, "?fieldSelector=", kube::query_value(selector()), "&limit=", kPage);
  std::string query;
  kube::Pages pages;
  for (;;) {
    MNET_CO_TRY(auto&& end, co_await scan_page(cat(path, query)));
    MNET_CO_TRY(const bool goes_on, pages.go_on(end.continuation));
    if (!goes_on) co_return Result<void>();
    query = cat("&continue=", kube::query_value(end.continuation));
  }
}

aio::Task<kube::ListEnd> Approver::scan_page(std::string path) {
  const aio::Deadline deadline = Clock::now() + settings_.call_time;
  MNET_CO_TRY(auto&& answer, co_await api_->open(std::move(path), deadline));
  if (answer->status() != 200) {
    MNET_CO_TRY(auto&& body, co_await http::read_whole(answer.get(), kLargest, deadline));
    co_return kube::error_of(kube::parse_status(answer->status(), body));
  }
  kube::ListReader reader(kLargest);
  for (;;) {
    MNET_CO_TRY(auto&& bytes, co_await answer->read(deadline));
    if (bytes.empty()) break;
    MNET_CO_TRY_VOID(reader.put(bytes));
    while (const auto item = reader.next_item()) {
      if (const auto object = json::parse_object(*item)) consider(*object);
    }
  }
  co_return reader.finish();
}

}  // namespace mnet::cert_approver
