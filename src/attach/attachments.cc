#include <memory>
#include <string>
#include <utility>

#include "aio/task.h"
#include "attach/add.h"
#include "attach/attach.h"
#include "attach/check.h"
#include "attach/containers.h"
#include "attach/core.h"
#include "attach/del.h"
#include "attach/dynamic.h"
#include "attach/gc.h"
#include "attach/ports.h"
#include "attach/status.h"
#include "base/log.h"
#include "cni/result.h"

namespace mnet::attach {

Attachments::Attachments(Ports ports, Log log, Options options)
    : core_(std::make_unique<Core>(ports, std::move(log), std::move(options))) {}

Attachments::~Attachments() = default;

aio::Task<cni::NetResult> Attachments::add(Request request) {
  auto job = read_job(std::move(request), Verb::kAdd, core_->log);
  if (!job) co_return std::move(job).error();
  // Registered before its turn comes, so that a DEL that arrives after it ends it (02, 0.5).
  Containers::RunningAdd running(core_->containers, job->request.container_id, job->request.caller);
  auto lock = co_await core_->containers.lock(job->request.container_id);
  if (!lock) co_return std::move(lock).error();
  Adding adding(*core_, *job, running);
  auto result = co_await adding.run();
  co_return result;
}

aio::Task<DelOutcome> Attachments::del(Request request) {
  auto job = read_job(std::move(request), Verb::kDel, core_->log);
  if (!job) co_return std::move(job).error();
  core_->containers.end_adds(job->request.container_id);
  auto lock = co_await core_->containers.lock(job->request.container_id);
  if (!lock) co_return std::move(lock).error();
  Deleting deleting(*core_, *job);
  auto deleted = co_await deleting.run();
  co_return deleted;
}

aio::Task<void> Attachments::check(Request request) {
  auto job = read_job(std::move(request), Verb::kCheck, core_->log);
  if (!job) co_return std::move(job).error();
  auto lock = co_await core_->containers.lock(job->request.container_id);
  if (!lock) co_return std::move(lock).error();
  Checking checking(*core_, *job);
  auto checked = co_await checking.run();
  co_return checked;
}

aio::Task<void> Attachments::status(Request request) {
  auto job = read_job(std::move(request), Verb::kStatus, core_->log);
  if (!job) co_return std::move(job).error();
  AskingStatus asking(*core_, *job);
  auto answered = co_await asking.run();
  co_return answered;
}

aio::Task<void> Attachments::gc(Request request) {
  auto job = read_job(std::move(request), Verb::kGc, core_->log);
  if (!job) co_return std::move(job).error();
  Collecting collecting(*core_, *job);
  auto collected = co_await collecting.run();
  co_return collected;
}

aio::Task<cni::NetResult> Attachments::add_dynamic(DynamicRequest request) {
  auto what = read_dynamic_job(std::move(request), Verb::kAdd, core_->log);
  if (!what) co_return std::move(what).error();
  const std::string container_id = what->job.request.container_id;
  Containers::RunningAdd running(core_->containers, container_id, what->job.request.caller);
  auto lock = co_await core_->containers.lock(container_id);
  if (!lock) co_return std::move(lock).error();
  Dynamic dynamic(*core_, *std::move(what));
  auto result = co_await dynamic.add(running);
  co_return result;
}

aio::Task<void> Attachments::del_dynamic(DynamicRequest request) {
  auto what = read_dynamic_job(std::move(request), Verb::kDel, core_->log);
  if (!what) co_return std::move(what).error();
  auto lock = co_await core_->containers.lock(what->job.request.container_id);
  if (!lock) co_return std::move(lock).error();
  Dynamic dynamic(*core_, *std::move(what));
  auto deleted = co_await dynamic.del();
  co_return deleted;
}

aio::Task<void> Attachments::check_dynamic(DynamicRequest request) {
  auto what = read_dynamic_job(std::move(request), Verb::kCheck, core_->log);
  if (!what) co_return std::move(what).error();
  auto lock = co_await core_->containers.lock(what->job.request.container_id);
  if (!lock) co_return std::move(lock).error();
  Dynamic dynamic(*core_, *std::move(what));
  auto checked = co_await dynamic.check();
  co_return checked;
}

aio::Task<void> Attachments::status_dynamic(DynamicRequest request) {
  auto what = read_dynamic_job(std::move(request), Verb::kStatus, core_->log);
  if (!what) co_return std::move(what).error();
  Dynamic dynamic(*core_, *std::move(what));
  auto answered = co_await dynamic.status();
  co_return answered;
}

}  // namespace mnet::attach
