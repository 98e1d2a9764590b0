#include "hotplug/pass.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/blocking_pool.h"
#include "aio/cancel.h"
#include "aio/event.h"
#include "aio/group.h"
#include "aio/task.h"
#include "aio/timer.h"
#include "attach/add_report.h"
#include "attach/attach.h"
#include "attach/containers.h"
#include "attach/core.h"
#include "attach/ports.h"
#include "attach/request.h"
#include "attach/resolve.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "chain/caller.h"
#include "cni/names.h"
#include "cni/result.h"
#include "hotplug/container.h"
#include "hotplug/difference.h"
#include "hotplug/job.h"
#include "hotplug/plug_in.h"
#include "hotplug/unplug.h"
#include "json/at.h"
#include "json/json.h"
#include "model/attachment_record.h"
#include "model/delegate.h"
#include "model/event_reasons.h"
#include "model/hotplug_settings.h"
#include "model/nad.h"
#include "model/network_status.h"
#include "model/networks_annotation.h"
#include "model/objects.h"
#include "model/requested_networks.h"
#include "model/selection_element.h"
#include "model/status_edit.h"

namespace mnet::hotplug {
namespace {

using Clock = std::chrono::steady_clock;
using Elements = std::vector<model::NetworkSelectionElement>;

// How long a DEL of the container waits for a plugin that hot-plug is running (05, 3.3).
constexpr std::chrono::seconds kPatience{30};
constexpr std::chrono::seconds kTurn{10};  // after this time a pass begins no other operation
constexpr std::size_t kMostRefusals = 10;  // of one pass, that are logged one by one

// One bad element makes the whole annotation invalid; it is never taken for an empty one.
Result<Elements> read_elements(const model::PodObject& pod) {
  const std::string* text = pod.annotation(model::kNetworksAnnotation);
  if (text == nullptr) return Elements();
  MNET_TRY(auto&& elements, model::parse_networks_annotation(*text, pod.ns));
  for (const model::NetworkSelectionElement& element : elements) {
    if (element.ifname.empty()) continue;
    MNET_TRY_VOID(cni::validate_ifname(element.ifname));
  }
  return elements;
}

bool is_owned(const model::RecordedAttachment& one) {
  return one.source == model::Source::kAnnotation || one.source == model::Source::kHotplug;
}

bool is_attached(const model::RecordedAttachment& one) {
  return one.state == model::AttachmentState::kAttached;
}

std::string text_of(const model::PodObject& pod) {
  const std::string* text = pod.annotation(model::kNetworksAnnotation);
  return text == nullptr ? std::string() : *text;
}

// Whether this error about a definition lasts. If it passes, the definition may be that of a
// network which a client plugged in.
bool is_lasting(const Error& error) {
  return error.code() == Errc::kInvalid || error.code() == Errc::kDenied ||
         error.code() == Errc::kNotFound;
}

aio::Task<void> keep_outcome(aio::Task<void> task, Result<void>* outcome, aio::Event* done) {
  *outcome = co_await std::move(task);
  done->set();
  co_return Result<void>();
}

aio::Task<void> cut_off(std::shared_ptr<chain::Caller> caller, aio::Timer* timer,
                        std::chrono::milliseconds patience, aio::Group* group) {
  MNET_CO_TRY_VOID(co_await caller->wait_gone());
  MNET_CO_TRY_VOID(co_await timer->sleep_for(patience));
  group->cancel();
  co_return Result<void>();
}

}  // namespace

std::string Operation::key() const {
  return cat(op == Op::kAdd ? "add " : "remove ", ifname, " ", network);
}

Pass::Pass(attach::Core& core, const model::HotplugSettings& settings, PassHost& host,
           attach::Request request, StatusCheck check, aio::Timer& timer)
    : core_(core),
      settings_(settings),
      host_(host),
      request_(std::move(request)),
      check_(std::move(check)),
      timer_(timer),
      reads_(aio::kNoDeadline, attach::LiveReads::Others::kGoOn, request_.pod.ns, request_.id),
      begun_(timer.now()) {}

bool Pass::is_spent() {
  const bool is_over = timer_.now() - begun_ >= kTurn;
  if (is_over) outcome_.is_unfinished = true;
  return is_over;
}

Job Pass::make_job(attach::Verb verb, std::string ifname) const {
  attach::Request request = request_;
  if (!ifname.empty()) request.ifname = std::move(ifname);
  attach::Job base(std::move(request), verb);
  // The operations work with what was read for the comparison.
  if (container_ != nullptr) base.room = container_->job.base.room;
  return Job{
      .base = std::move(base), .delegate = {}, .unfilled_hash = {}, .is_by_annotation = true};
}

aio::Task<PassOutcome> Pass::run() {
  running_ = std::make_unique<attach::Containers::RunningAdd>(
      core_.containers, request_.container_id, request_.caller);
  MNET_CO_TRY([[maybe_unused]] const auto& lock,
              co_await core_.containers.lock(request_.container_id));
  if (ends()) co_return std::move(outcome_);
  MNET_CO_TRY_VOID(co_await compare());
  if (!outcome_.is_eligible || !outcome_.is_alive) co_return std::move(outcome_);
  MNET_CO_TRY_VOID(co_await apply());
  co_return std::move(outcome_);
}

aio::Task<void> Pass::reload() {
  container_ = std::make_unique<Container>(core_, make_job(attach::Verb::kAdd, {}));
  return container_->find();
}

// Nothing is torn down on a memory's word: the API server that it comes from may be behind the one
// that an earlier daemon asked.
aio::Task<void> Pass::compare() {
  MNET_CO_TRY_VOID(co_await reload());
  MNET_CO_TRY_VOID(co_await judge());
  if (outcome_.is_eligible && outcome_.is_alive && !difference_.removals.empty()) {
    MNET_CO_TRY(const bool is_other, co_await container_->take_newest_pod());
    if (is_other) {
      MNET_CO_TRY_VOID(co_await judge());
    }
  }
  if (!outcome_.is_eligible || !outcome_.is_alive) co_return Result<void>();
  outcome_.wanted = wanted_.size();
  outcome_.present = difference_.matched;
  tell_refusals();
  co_return co_await keep_learned();
}

// Where nothing differs the namespace is not looked at.
aio::Task<void> Pass::judge() {
  MNET_CO_TRY(outcome_.is_eligible, is_eligible());
  if (!outcome_.is_eligible) co_return Result<void>();
  auto read = co_await read_wanted();
  if (!read) {
    if (read.error().code() == Errc::kCancelled) co_return std::move(read);
    host_.tell(container_->pod, {.reason = model::kInvalidNetworksAnnotation,
                                 .message = read.error().text(),
                                 .value = text_of(*container_->pod)});
    outcome_.is_eligible = false;
    co_return Result<void>();
  }
  rules_.replaces_on_change = settings_.replaces_on_change;
  rules_.may_select = [this](std::string_view ns) {
    return model::may_select(container_->job.base.conf, container_->pod->ns, ns);
  };
  rules_.reconstructed = container_->reconstructed();
  MNET_CO_TRY_VOID(co_await look_for_clients_networks(&rules_));
  difference_ = difference(wanted_, container_->record, rules_);
  if (!difference_.is_empty() || container_->record.status_behind || check_.is_due ||
      lacks_index()) {
    MNET_CO_TRY_VOID(co_await look_at_links());
    difference_ = difference(wanted_, container_->record, rules_);
  }
  co_return Result<void>();
}

// A reconstructed record is kept too: whose each network is shows in the annotation only until the
// pod is edited.
aio::Task<void> Pass::keep_learned() {
  if (difference_.learned.empty() && rules_.reconstructed.empty()) co_return Result<void>();
  for (Attributes& one : difference_.learned) {
    container_->record.find(one.ifname)->attributes = std::move(one.attributes);
  }
  co_return co_await container_->save();
}

// Whether the pod has ended counts, not its phase otherwise, and not whether it is ready.
Result<bool> Pass::is_eligible() {
  const model::AttachmentRecord& record = container_->record;
  const model::PodObjectPtr& pod = container_->pod;
  if (pod == nullptr || record.state != model::RecordState::kReady) return false;
  if (!record.boot_id.empty() && record.boot_id != core_.options.boot_id) return false;
  if (pod->is_being_deleted || pod->is_in_host_network || pod->phase == model::PodPhase::kEnded) {
    return false;
  }
  if (!settings_.includes(pod->ns)) return false;
  if (!request_.netns.empty()) return true;
  host_.tell(pod, {.reason = model::kHotplugUnavailable,
                   .message = "the pod was created by a Multus that did not record its "
                              "network namespace; its networks change when it is recreated",
                   .value = text_of(*pod)});
  return false;
}

aio::Task<void> Pass::read_wanted() {
  const model::PodObjectPtr pod = container_->pod;
  Result<Elements> elements;
  if (core_.ports.pool != nullptr && model::has_long_annotation(*pod)) {
    elements = co_await core_.ports.pool->run([pod] { return read_elements(*pod); });
  } else {
    elements = read_elements(*pod);
  }
  if (!elements) co_return std::move(elements).error();
  wanted_ = *std::move(elements);
  co_return Result<void>();
}

// Clients name networks as configurations do, not as definitions do.
aio::Task<void> Pass::look_for_clients_networks(DifferenceRules* rules) {
  std::set<std::string> seen;  // an annotation may name one network a thousand times
  for (const model::NetworkSelectionElement& element : wanted_) {
    const model::RecordedAttachment* there = container_->record.find(element.ifname);
    if (there == nullptr || there->source != model::Source::kDelegateApi) continue;
    if (!seen.insert(element.ifname).second) continue;
    auto definition =
        co_await core_.ports.source->find_network({.ns = element.ns, .name = element.name});
    if (!definition && !is_lasting(definition.error())) co_return definition.error();
    if (!definition || *definition == nullptr) continue;
    const auto text = model::configuration_of(**definition);
    const auto config = text ? json::parse_object(*text) : Result<json::Object>(text.error());
    if (config) rules->cni_names[network_of(element)] = json::text_of(config->find("name"));
  }
  co_return Result<void>();
}

// The indexes of links are recorded while the links still have their first names.
bool Pass::lacks_index() const {
  return core_.ports.link_names != nullptr &&
         std::ranges::any_of(container_->record.attachments, [](const auto& one) {
           return is_owned(one) && is_attached(one) && one.link_index == 0;
         });
}

aio::Task<void> Pass::look_at_links() {
  model::AttachmentRecord& record = container_->record;
  const auto seen = co_await core_.ports.links.look(request_.netns, {});
  if (!seen && !is_no_namespace(seen.error())) co_return seen.error();
  const bool is_same = seen && (record.netns_inode == 0 || record.netns_inode == seen->netns.inode);
  outcome_.is_alive = is_same;
  if (!is_same || core_.ports.link_names == nullptr) co_return Result<void>();
  MNET_CO_TRY(const auto& links, co_await core_.ports.link_names->list(request_.netns));
  bool has_changed = false;
  for (const attach::Link& link : links) {
    rules_.links.insert(link.name);
    model::RecordedAttachment* one = record.find(link.name);
    if (one == nullptr || !is_owned(*one) || !is_attached(*one) || one->link_index != 0) continue;
    one->link_index = link.index;
    has_changed = true;
  }
  if (!has_changed) co_return Result<void>();
  co_return co_await container_->save();
}

// A pod's author chooses how many elements there are.
void Pass::tell_refusals() {
  const model::PodObjectPtr& pod = container_->pod;
  std::size_t told = 0;
  for (const Refusal& one : difference_.rejected) {
    const Operation operation{.op = Op::kAdd, .ifname = one.ifname, .network = one.network};
    outcome_.failing.insert(operation.key());
    if (++told > kMostRefusals) continue;
    host_.tell(pod, {.reason = model::kInterfaceAddRejected,
                     .message = cat("Will not add ", one.ifname.empty() ? "" : one.ifname + " ",
                                    "from ", excerpt(one.network), ": ", one.reason),
                     .value = operation.key()});
  }
  for (const Refusal& one : difference_.ignored) {
    if (++told > kMostRefusals) continue;
    host_.tell(pod, {.reason = model::kInterfaceChangeIgnored,
                     .message = cat(one.ifname, " from ", excerpt(one.network), ": ", one.reason),
                     .value = cat(one.ifname, " ", json::dump(one.wanted, json::kSorted))});
  }
  if (told <= kMostRefusals) return;
  host_.tell(pod, {.reason = model::kInterfaceAddRejected,
                   .message = cat("Will not apply ", told - kMostRefusals,
                                  " other elements of the annotation either"),
                   .value = text_of(*pod)});
}

aio::Task<void> Pass::apply() {
  if (!difference_.adopted.empty()) {
    MNET_CO_TRY_VOID(co_await adopt());
  }
  for (const Removal& removal : difference_.removals) {
    if (ends()) co_return Result<void>();
    if (is_spent()) break;
    MNET_CO_TRY_VOID(co_await remove(removal));
  }
  for (const Addition& addition : difference_.additions) {
    if (ends()) co_return Result<void>();
    if (is_spent()) break;
    MNET_CO_TRY_VOID(co_await add(addition));
  }
  const bool is_done = difference_.removals.empty() && difference_.additions.empty() &&
                       !container_->record.status_behind && !check_.is_due;
  if (ends() || is_done) co_return Result<void>();
  outcome_.status = co_await bounded(write_status(), std::chrono::milliseconds(0));
  co_return Result<void>();
}

// From now on it has the name that the annotation uses: a client knows no definitions.
aio::Task<void> Pass::adopt() {
  model::AttachmentRecord& record = container_->record;
  for (const Adoption& adoption : difference_.adopted) {
    model::RecordedAttachment* one = record.find(adoption.ifname);
    if (one == nullptr) continue;
    one->source = model::Source::kHotplug;
    if (one->network == adoption.network) continue;
    record.stale_statuses.push_back(status_of(*one));
    record.status_behind = true;
    one->network = adoption.network;
  }
  return container_->save();
}

aio::Task<void> Pass::remove(Removal removal) {
  const Operation operation{
      .op = Op::kRemove, .ifname = removal.ifname, .network = removal.network};
  not_removed_.insert(removal.ifname);
  outcome_.failing.insert(operation.key());
  if (!host_.may_try(operation)) co_return Result<void>();
  const auto begun = Clock::now();
  model::StaleStatus stale;
  if (const auto* there = container_->record.find(removal.ifname)) stale = status_of(*there);
  Container container(core_, make_job(attach::Verb::kDel, removal.ifname));
  Unplug unplug(container);
  const auto removed = co_await bounded(unplug.run_by_annotation(), kPatience);
  host_.note(container_->pod, operation, Clock::now() - begun, removed, false);
  if (!removed) co_return Result<void>();
  outcome_.removed.push_back(std::move(stale));
  container_->record = container.record;  // its device is free
  not_removed_.erase(removal.ifname);
  outcome_.failing.erase(operation.key());
  co_return Result<void>();
}

// An addition that waits for its name waits for a removal, which is tried again.
aio::Task<void> Pass::add(Addition addition) {
  const Operation operation{
      .op = Op::kAdd, .ifname = addition.ifname, .network = network_of(addition.element)};
  outcome_.failing.insert(operation.key());
  if (not_removed_.contains(addition.ifname) || !host_.may_try(operation)) co_return Result<void>();
  const auto begun = Clock::now();
  bool is_rejected = false;
  const auto added = co_await bounded(attach(std::move(addition), &is_rejected), kPatience);
  host_.note(container_->pod, operation, Clock::now() - begun, added, is_rejected);
  if (!added) co_return Result<void>();
  ++outcome_.present;
  outcome_.failing.erase(operation.key());
  co_return Result<void>();
}

aio::Task<void> Pass::attach(Addition addition, bool* is_rejected) {
  Job job = make_job(attach::Verb::kAdd, addition.ifname);
  std::set<std::string> used;
  for (const model::RecordedAttachment& one : container_->record.attachments) {
    if (!one.device_id.empty()) used.insert(one.device_id);
  }
  attach::Resolver resolver(core_, job.base, container_->pod, aio::kNoDeadline, &reads_);
  auto delegate = co_await resolver.select(std::move(addition.element), std::move(used));
  if (!delegate) {
    // No device is left for the network, or the pod may not choose that one.
    *is_rejected = delegate.error().code() == Errc::kDenied || delegate.error().origin() != nullptr;
    co_return std::move(delegate).error();
  }
  job.delegate = *std::move(delegate);
  job.delegate.selection.ifname = addition.ifname;
  job.auto_name = addition.auto_name;
  job.unfilled_hash = job.delegate.config_hash;
  Container container(core_, std::move(job));
  PlugIn plug_in(container, *running_);
  MNET_CO_TRY([[maybe_unused]] const auto& result, co_await plug_in.run());
  container_->record = container.record;
  co_return Result<void>();
}

// Only what the pod's annotation asked for; other attachments' entries belong to their makers.
aio::Task<std::vector<model::NetworkStatus>> Pass::statuses() {
  std::vector<model::NetworkStatus> all;
  attach::Reporter reporter(core_, container_->job.base, container_->pod);
  for (const model::RecordedAttachment& one : container_->record.attachments) {
    if (!is_owned(one) || !is_attached(one) || !one.result) continue;
    auto result = cni::read_result(*one.result);
    if (!result) continue;
    const auto device_info = co_await reporter.find_device_info(one.capability_args);
    auto entries = model::network_statuses(*result, one.network, false, device_info);
    if (entries) std::ranges::move(*entries, std::back_inserter(all));
  }
  co_return all;
}

// What has come back since is not stale.
std::vector<model::StaleStatus> Pass::stale_statuses() const {
  std::vector<model::StaleStatus> stale = container_->record.stale_statuses;
  for (const model::StaleStatus& one : check_.removed) {
    const bool is_there = std::ranges::any_of(one.ifnames, [&](const std::string& ifname) {
      return container_->record.find(ifname) != nullptr;
    });
    if (!is_there) stale.push_back(one);
  }
  return stale;
}

// If the pod's ADD still owes its status, write that first: it covers everything.
aio::Task<void> Pass::write_status() {
  MNET_CO_TRY_VOID(co_await reload());
  const bool is_behind = container_->record.status_behind;
  if (!is_behind && !check_.is_due) co_return Result<void>();
  if (container_->record.status_owed) {
    co_return Error(Errc::kUnavailable, "the network status of the pod's ADD is written first");
  }
  MNET_CO_TRY(auto&& attached, co_await statuses());
  const std::vector<model::StaleStatus> stale = stale_statuses();
  attach::Reporter reporter(core_, container_->job.base, container_->pod);
  auto edit = [&](const std::optional<std::string>& text) -> Result<std::optional<std::string>> {
    MNET_TRY(auto&& edited, model::with_changes(text, stale, attached));
    if (!edited) return std::optional<std::string>();
    reporter.tell_shortcomings(*edited);
    return std::optional<std::string>(edited->text());
  };
  MNET_CO_TRY_VOID(co_await core_.ports.source->edit_status(container_->pod, edit));
  if (!is_behind) co_return Result<void>();
  container_->record.status_behind = false;
  container_->record.stale_statuses.clear();
  co_return co_await container_->save();
}

aio::Task<void> Pass::bounded(aio::Task<void> task, std::chrono::milliseconds patience) {
  const auto executor = co_await aio::asio::this_coro::executor;
  const Log log = request_.log;
  Result<void> outcome = aio::cancelled_error();
  aio::Event done;
  aio::Group work(executor, log);
  aio::Group watch(executor, log);
  work.spawn("hot-plug", keep_outcome(std::move(task), &outcome, &done));
  watch.spawn("hot-plug", cut_off(request_.caller, &timer_, patience, &work));
  const auto waited = co_await done.wait();
  if (!waited) work.cancel();
  watch.cancel();
  (void)co_await aio::shielded(work.join());
  (void)co_await aio::shielded(watch.join());
  co_return std::move(outcome);
}

}  // namespace mnet::hotplug
