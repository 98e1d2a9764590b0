// `cni-node watch` (04, 3): follows a ConfigMap, templates, the files they point to and its own
// work, and lets the Reconciler act.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "aio/event.h"
#include "aio/group.h"
#include "aio/task.h"
#include "cni_node/command.h"
#include "cni_node/desired.h"
#include "cni_node/files.h"
#include "cni_node/manifests.h"
#include "cni_node/owner.h"
#include "cni_node/reconcile.h"
#include "kube/api.h"
#include "kube/reflector.h"
#include "kube/sink.h"
#include "ledger/ledger_file.h"
#include "nodetools/follow_files.h"
#include "nodetools/health.h"
#include "nodetools/output.h"
#include "nodetools/stop_signal.h"
#include "sys/file_lock.h"
#include "sys/signals.h"

namespace mnet::cni_node {

class Watch final : private kube::Sink {
 public:
  using Clock = std::chrono::steady_clock;

  // All must outlive the task.
  Watch(const Command& command, nodetools::Output& output, sys::Signals& signals,
        const aio::asio::any_io_executor& executor, nodetools::Health& health);
  ~Watch() override;

  // Until a signal; yields the exit status.
  aio::Task<int> run();

  // The text of /metrics.
  std::string metrics() const;

 private:
  Result<void> add(const json::Object& object) override;
  Result<void> change(kube::EventType type, const json::Object& object) override;
  void absent() override;
  void connected() override;
  void trouble(const std::string& why) override;

  aio::Task<int> watch();
  aio::Task<bool> take_lock();
  Result<void> prepare();
  Result<void> open_the_ledger();
  void warn_of_no_volume();
  Result<void> reach_api();
  std::string source() const;
  aio::Task<void> await_signal();
  aio::Task<void> follow_files();
  aio::Task<void> follow_configmap();
  aio::Task<void> reconcile_until_stopped();
  aio::Task<void> settle();
  void reconcile();
  aio::Task<void> do_the_rest();
  aio::Task<int> finish();
  aio::Task<bool> clean_up();
  bool is_stopping();

  void take_desired(DesiredNow now);
  void touch();
  void show_status();
  void tell_health();
  Clock::time_point next_round() const;

  const Command& command_;
  nodetools::Output& output_;
  nodetools::StopSignal signal_;
  nodetools::Health& health_;
  aio::asio::any_io_executor executor_;
  aio::Group group_, rest_group_;

  sys::FileLock lock_;
  std::unique_ptr<ledger::LedgerFile> ledger_;
  std::unique_ptr<kube::Api> api_;
  std::string ns_;  // of the ConfigMap
  std::optional<Owner> owner_;
  std::unique_ptr<nodetools::FileFollower> file_follower_;
  std::optional<Files> files_;
  Manifests manifests_;
  std::unique_ptr<Reconciler> reconciler_;

  Desired desired_;
  bool is_desired_known_ = false;
  aio::Event stop_;
  bool is_finishing_ = false;
  aio::Notifier wake_;
  bool is_touched_ = false;
  Clock::time_point touched_at_ = {};
  Clock::time_point next_resync_;
  Clock::time_point last_round_ = {};
  bool is_resync_due_ = false;  // for the rest
  bool is_rest_running_ = false, wants_rest_again_ = false;
  std::string shown_status_;
  struct Counts {
    std::uint64_t rounds = 0, failed_rounds = 0;
    std::chrono::duration<double> time{0};  // of all rounds
    std::optional<Clock::time_point> last_success = {};
  };
  Counts counts_;
  std::string last_configmap_error_;
};

}  // namespace mnet::cni_node
