#include "attach/add_report.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attach/core.h"
#include "attach/source.h"
#include "base/log.h"
#include "base/text.h"
#include "chain/chain.h"
#include "cni/address.h"
#include "cni/result.h"
#include "cni/version.h"
#include "json/json.h"
#include "model/delegate.h"

namespace mnet::attach {

std::string added_interface(const cni::NetResult& newest, std::string_view ifname,
                            std::string_view delegate_name) {
  std::vector<std::string> addresses;
  addresses.reserve(newest.ips.size());
  for (const cni::IpConfig& ip : newest.ips) addresses.push_back(ip.address.text());
  std::string message = cat("Add ", ifname, " ", bracketed(addresses));
  if (!delegate_name.empty()) message += cat(" from ", delegate_name);
  return message;
}

void log_added(const Job& job, const model::PodObjectPtr& pod, const model::Attachment& attachment,
               const cni::NetResult& result) {
  if (!job.log.writes(LogLevel::kVerbose)) return;
  const model::Delegate& delegate = attachment.delegate;
  const std::string uid = pod == nullptr || pod->uid.empty() ? "unknownUID" : pod->uid;
  job.log.verbatim(
      LogLevel::kVerbose,
      cat("Add: ", job.pod.ns, ":", job.pod.name, ":", uid, ":", delegate.name, "(",
          delegate.cni_name, "):", attachment.ifname, " ", json::dump(cni::to_json(result))));
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
