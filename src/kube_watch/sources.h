// Where kube-watch's values come from: objects of the API (04, 2.2), or a file (04, 2.3).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aio/task.h"
#include "aio/timer.h"
#include "base/backoff.h"
#include "json/json.h"
#include "kube/api.h"
#include "kube/discovery.h"
#include "kube/reflector.h"
#include "kube/sink.h"
#include "kube/watch_event.h"
#include "kube_watch/command.h"
#include "kube_watch/deliveries.h"
#include "kube_watch/find_type.h"
#include "nodetools/output.h"

namespace mnet::kube_watch {

// The key of the one thing that is followed; what was handled of it outlives a restart.
inline constexpr const char* kOnlyKey = "";

class ObjectWatch final : public kube::Sink {
 public:
  // All but the command must outlive it.
  ObjectWatch(Command command, std::string default_ns, kube::Api& api, Deliveries& deliveries,
              nodetools::Output& output, Random random = make_random(),
              aio::Timer& timer = aio::Timer::steady());

  // Until cancelled; or kNotFound when the server has not known the type for a minute.
  aio::Task<void> run();

  void begin() override { listed_.clear(); }
  Result<void> add(const json::Object& object) override;
  void commit() override;
  Result<void> change(kube::EventType type, const json::Object& object) override;
  void trouble(const std::string& why) override;
  void absent() override { deliveries_.source_is_known(); }
  void connected() override { deliveries_.source_is_known(); }

 private:
  bool follows_one() const { return !command_.name.empty(); }
  aio::Task<kube::Resource> resolve();
  std::string target() const;

  const Command command_;
  const std::string ns_;  // empty: all
  kube::Api& api_;
  Deliveries& deliveries_;
  nodetools::Output& output_;
  const Random random_;
  aio::Timer& timer_;  // of pauses while the server does not have what it says that it has
  TypeFinder types_;
  bool is_secret_ = false;           // that is followed
  std::vector<std::string> listed_;  // the keys of the list that comes in
};

class FileSource {
 public:
  FileSource(std::string path, Deliveries& deliveries, nodetools::Output& output);

  // Until cancelled; or an error of the kernel's watching itself.
  aio::Task<void> run();

 private:
  void look();
  void say_once(std::string what);

  const std::string path_;  // absolute
  Deliveries& deliveries_;
  nodetools::Output& output_;
  std::optional<std::string> content_;  // as it was last read
  bool was_there_ = false;
  std::string said_;
};

}  // namespace mnet::kube_watch
