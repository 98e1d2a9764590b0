// The core of the routes, fulfilled by attach.
#pragma once

#include "daemon/core.h"

namespace mnet::daemon {

class AttachCore final : public Core {
 public:
  // `attachments` must outlive it.
  explicit AttachCore(attach::Attachments& attachments) : attachments_(attachments) {}

  aio::Task<cni::NetResult> add(attach::Request request) override {
    return attachments_.add(std::move(request));
  }
  aio::Task<void> del(attach::Request request) override {
    return attachments_.del(std::move(request));
  }
  aio::Task<void> check(attach::Request request) override {
    return attachments_.check(std::move(request));
  }
  aio::Task<void> status(attach::Request request) override {
    return attachments_.status(std::move(request));
  }
  aio::Task<void> gc(attach::Request request) override {
    return attachments_.gc(std::move(request));
  }

  // attach cannot do these yet.
  aio::Task<cni::NetResult> add_dynamic(DynamicRequest) override { co_return not_yet(); }
  aio::Task<void> del_dynamic(DynamicRequest) override { co_return not_yet(); }
  aio::Task<void> check_dynamic(DynamicRequest) override { co_return not_yet(); }
  aio::Task<void> status_dynamic(DynamicRequest) override { co_return not_yet(); }

 private:
  static Error not_yet() {
    return Error(Errc::kUnavailable, "dynamic attachments are not built in yet");
  }

  attach::Attachments& attachments_;
};

}  // namespace mnet::daemon
