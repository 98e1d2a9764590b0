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
  aio::Task<attach::DelOutcome> del(attach::Request request) override {
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

  aio::Task<cni::NetResult> add_dynamic(attach::DynamicRequest request) override {
    return attachments_.add_dynamic(std::move(request));
  }
  aio::Task<void> del_dynamic(attach::DynamicRequest request) override {
    return attachments_.del_dynamic(std::move(request));
  }
  aio::Task<void> check_dynamic(attach::DynamicRequest request) override {
    return attachments_.check_dynamic(std::move(request));
  }
  aio::Task<void> status_dynamic(attach::DynamicRequest request) override {
    return attachments_.status_dynamic(std::move(request));
  }

 private:
  attach::Attachments& attachments_;
};

}  // namespace mnet::daemon
