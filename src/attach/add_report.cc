#include "attach/add_report.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aio/task.h"
#include "attach/core.h"
#include "attach/plan.h"
#include "attach/room.h"
#include "attach/source.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/address.h"
#include "cni/result.h"
#include "cni/version.h"
#include "json/json.h"
#include "model/attachment.h"
#include "model/delegate.h"
#include "model/event_reasons.h"
#include "model/messages.h"
#include "model/network_status.h"
#include "model/objects.h"
#include "model/pod_args.h"

namespace mnet::attach {
namespace {

std::string added_interface(const cni::NetResult& newest, std::string_view ifname,
                            std::string_view delegate_name) {
  std::vector<std::string> addresses;
  addresses.reserve(newest.ips.size());
  for (const cni::IpConfig& ip : newest.ips) addresses.push_back(ip.address.text());
  std::string message = cat("Add ", ifname, " ", bracketed(addresses));
  if (!delegate_name.empty()) message += cat(" from ", excerpt(delegate_name));
  return message;
}

// As many as fit whole into an event, and how many more there are.
std::string added_interfaces(const std::vector<AddedInterface>& added) {
  constexpr std::string_view kMore = "; and 1000 more";
  std::string message;
  for (std::size_t i = 0; i < added.size(); ++i) {
    const model::Attachment& attachment = *added[i].attachment;
    std::string next =
        added_interface(added[i].newest, attachment.ifname, attachment.delegate.name);
    if (i == 0) {
      message = std::move(next);
      continue;
    }
    if (message.size() + next.size() + 2 + kMore.size() > kMostOfEvent) {
      return cat(message, "; and ", added.size() - i, " more");
    }
    message += cat("; ", next);
  }
  return message;
}

}  // namespace

void log_added(const Job& job, const model::PodObjectPtr& pod, const model::Attachment& attachment,
               const cni::NetResult& result) {
  if (!job.log.writes(LogLevel::kVerbose)) return;
  const model::Delegate& delegate = attachment.delegate;
  const std::string uid = pod == nullptr || pod->uid.empty() ? "unknownUID" : pod->uid;
  job.log.verbatim(LogLevel::kVerbose,
                   cat("Add: ", model::shown_name(job.pod.ns), ":", model::shown_name(job.pod.name),
                       ":", uid, ":", excerpt(delegate.name), "(", excerpt(delegate.cni_name),
                       "):", excerpt(attachment.ifname), " ",
                       excerpt(json::dump(cni::to_json(result)), model::kMostOfResult)));
}

void Reporter::send_added(const std::vector<AddedInterface>& added) const {
  if (pod_ == nullptr || added.empty()) return;
  core_.ports.source->send({.pod = pod_,
                            .is_warning = false,
                            .reason = model::kAddedInterface,
                            .message = added_interfaces(added),
                            .request_id = job_.request.id});
}

aio::asio::awaitable<std::optional<json::Object>> Reporter::find_device_info(
    json::Object capability_args) {
  const std::string path = device_info_file(capability_args);
  if (path.empty()) co_return std::nullopt;
  auto found = co_await core_.ports.device_infos.find(path);
  if (found) co_return *std::move(found);
  job_.log.error("cannot read device information", found.error());
  co_return std::nullopt;
}

Result<std::vector<model::NetworkStatus>> Reporter::statuses_of(
    const cni::NetResult& result, const std::string& network, bool is_master,
    const std::optional<json::Object>& device_info) const {
  auto statuses = model::network_statuses(result, network, is_master, device_info);
  if (statuses) return statuses;
  return model::core_error(std::move(statuses).error(), job_.pod, "error setting network statuses");
}

void Reporter::tell_shortcomings(const model::StatusText& status) const {
  std::string message = status.shortcomings();
  if (message.empty()) return;
  job_.log.warning(message);
  core_.ports.source->send({.pod = pod_,
                            .is_warning = true,
                            .reason = model::kNetworkStatusTooLarge,
                            .message = std::move(message),
                            .request_id = job_.request.id});
}

aio::Task<std::optional<std::string>> Reporter::text_of(
    std::vector<model::NetworkStatus> statuses) {
  if (statuses.empty()) co_return std::optional<std::string>();
  // The networks' authors choose how long it gets: every entry of a network repeats its `dns`.
  RoomRequest wanted = job_.room_request(model::longest_text(statuses));
  wanted.purpose = RoomFor::kStatus;
  MNET_CO_TRY_VOID(co_await room_.take(core_.ports.room, std::move(wanted)));
  const model::StatusText status = model::status_text(statuses);
  tell_shortcomings(status);
  co_return std::optional<std::string>(status.text());
}

aio::Task<void> Reporter::write_status(std::string text) {
  auto written = co_await core_.ports.source->write_status(pod_, std::move(text), job_.log);
  room_ = HeldRoom();
  if (written) co_return Result<void>();
  co_return model::core_error(std::move(written).error(), job_.pod,
                              "error setting the networks status");
}

cni::NetResult result_without_pod(std::string_view version, const std::string& ifname,
                                  const std::string& netns) {
  cni::NetResult result;
  result.version = cni::kCurrentVersion;
  cni::Interface interface;
  interface.name = ifname;
  interface.sandbox = netns;
  result.interfaces.push_back(std::move(interface));
  cni::IpConfig ip;
  ip.address = cni::Cidr::parse("0.0.0.0/0").value();
  ip.gateway = ip.address.address;
  result.ips.push_back(std::move(ip));
  auto asked = cni::convert(result, version);
  return asked ? *std::move(asked) : result;
}

}  // namespace mnet::attach
