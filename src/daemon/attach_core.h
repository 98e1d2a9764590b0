// The core of the routes, fulfilled by attach and hotplug.
#pragma once

#include "daemon/core.h"

namespace mnet::daemon {

class AttachCore final : public Core {
 public:
  // `attachments` must outlive it.
  explicit AttachCore(attach::Attachments& attachments)
      : attachments_(attachments), hotplug_(attachments) {}

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

  aio::Task<cni::NetResult> add_dynamic(hotplug::Request request) override {
    return hotplug_.add(std::move(request));
  }
  aio::Task<void> del_dynamic(hotplug::Request request) override {
    return hotplug_.del(std::move(request));
  }
  aio::Task<void> check_dynamic(hotplug::Request request) override {
    return hotplug_.check(std::move(request));
  }
  aio::Task<void> status_dynamic(hotplug::Request request) override {
    return hotplug_.status(std::move(request));
  }

 private:
  attach::Attachments& attachments_;
  hotplug::Hotplug hotplug_;
};

}  // namespace mnet::daemon
