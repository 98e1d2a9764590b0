// For tests: a core that records what it is asked and answers what it is told.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "aio/event.h"
#include "attach/attach.h"
#include "base/text.h"
#include "base/try.h"
#include "hotplug/hotplug.h"

namespace mnet::daemon {

// Used on one event loop.
class FakeCore final : public attach::Attachments, public hotplug::Hotplug {
 public:
  struct Called {
    std::string command;  // "ADD", "hotplug DEL", ...
    attach::Request request;
    hotplug::Request hotplug;  // without its `request`
  };

  // The next call of `command` fails so; further ones as well, until told otherwise.
  void fail(const std::string& command, Error error) {
    failures_.insert_or_assign(command, std::move(error));
  }
  void succeed(const std::string& command) { failures_.erase(command); }
  // Calls of `command` wait until open().
  void close(const std::string& command) { gates_.insert_or_assign(command, true); }
  void open() {
    gates_.clear();
    opened_.notify_all();
  }

  attach::DelOutcome del_outcome;                  // of every DEL that does not fail
  std::optional<attach::DelOutcome> last_outcome;  // of a last try, if it ends otherwise
  std::size_t reported_checks = 0;
  std::vector<Called> calls;
  // `ADD c1`, in the order they began; `end of ADD c1` when they ended.
  std::vector<std::string> order;

  aio::Task<cni::NetResult> add(attach::Request request) override {
    MNET_CO_TRY_VOID(co_await serve("ADD", std::move(request)));
    co_return result();
  }
  aio::Task<attach::DelOutcome> del(attach::Request request) override {
    const bool is_last = request.is_last;
    MNET_CO_TRY_VOID(co_await serve("DEL", std::move(request)));
    co_return is_last ? last_outcome.value_or(del_outcome) : del_outcome;
  }
  aio::Task<std::size_t> check(attach::Request request) override {
    MNET_CO_TRY_VOID(co_await serve("CHECK", std::move(request)));
    co_return reported_checks;
  }
  aio::Task<void> status(attach::Request request) override {
    return serve("STATUS", std::move(request));
  }
  aio::Task<void> gc(attach::Request request) override { return serve("GC", std::move(request)); }

  aio::Task<cni::NetResult> add(hotplug::Request request) override {
    MNET_CO_TRY_VOID(co_await serve_hotplug("hotplug ADD", std::move(request)));
    co_return result();
  }
  aio::Task<void> del(hotplug::Request request) override {
    return serve_hotplug("hotplug DEL", std::move(request));
  }
  aio::Task<void> check(hotplug::Request request) override {
    return serve_hotplug("hotplug CHECK", std::move(request));
  }
  aio::Task<void> status(hotplug::Request request) override {
    return serve_hotplug("hotplug STATUS", std::move(request));
  }

 private:
  static cni::NetResult result() {
    cni::NetResult result;
    result.version = "0.3.1";
    cni::Interface& interface = result.interfaces.emplace_back();
    interface.name = "eth0";
    interface.mac = "02:00:00:00:00:01";
    interface.sandbox = "/ns";
    return result;
  }

  aio::Task<void> serve_hotplug(std::string command, hotplug::Request request) {
    attach::Request base = std::move(request.request);
    hotplug_ = std::move(request);
    return serve(std::move(command), std::move(base));
  }

  aio::Task<void> serve(std::string command, attach::Request request) {
    const std::string name = cat(command, " ", request.container_id);
    order.push_back(name);
    calls.push_back({command, std::move(request), std::exchange(hotplug_, {})});
    while (gates_.contains(command)) {
      MNET_CO_TRY_VOID(co_await opened_.wait());
    }
    order.push_back(cat("end of ", name));
    const auto failure = failures_.find(command);
    if (failure != failures_.end()) co_return failure->second;
    co_return Result<void>();
  }

  std::map<std::string, Error> failures_;
  std::map<std::string, bool> gates_;
  aio::Notifier opened_;
  hotplug::Request hotplug_;
};

}  // namespace mnet::daemon
