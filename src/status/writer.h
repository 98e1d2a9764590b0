// Writes network statuses after the answers of their ADDs (05, 3.11): a few at a time while the
// server takes them, one at a time and with growing pauses while it does not. The queue is the
// attachment records, which survive the process; this object holds container ids, and the texts of
// the few that are written next.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "aio/event.h"
#include "aio/group.h"
#include "aio/task.h"
#include "aio/timer.h"
#include "attach/attach.h"
#include "attach/ports.h"
#include "attach/source.h"
#include "base/backoff.h"
#include "base/error_list.h"
#include "base/log.h"
#include "model/attachment_record.h"

namespace mnet::status {

class Writer : public attach::OwedStatuses {
 public:
  using Time = std::chrono::milliseconds;

  static constexpr std::size_t kSideBySide = 4;
  // Limit for all texts together. A text that does not fit is made again from its record.
  static constexpr std::size_t kMostText = 256u << 10;

  struct Settings {
    Time first_pause{1000}, longest_pause{60'000};  // while the server is unwell
    Time denied_pause{120'000};  // while a right is missing: between one and two times that
    Time spread{10'000};         // within which a node begins with what an earlier process owed
    Random random = make_random();
    aio::Timer* timer = &aio::Timer::steady();
  };

  // `attachments` may be constructed later, but must be there when a task runs, and outlive it.
  Writer(const aio::asio::any_io_executor& executor, attach::Attachments& attachments,
         Settings settings, Log log);
  Writer(const aio::asio::any_io_executor& executor, attach::Attachments& attachments, Log log);

  void owe(attach::OwedStatus status) override;
  void forget(const std::string& container_id) override;
  void forget_pod(const model::PodObject& pod) override;

  // Writes what is owed, until cancelled; to be started once, in a group.
  aio::Task<void> run();
  // Takes up what the records of an earlier process owe, after a random pause: all nodes may have
  // started together. Ends when each of them has been read.
  aio::Task<void> take_up(std::set<std::string> cni_dirs);
  // Runs until everything is written that can be, at the latest until the deadline, and then gives
  // up the rest, which the records still list as owed. False if a task still runs. Await it before
  // this object goes.
  aio::asio::awaitable<bool> finish(aio::Deadline deadline);

  std::size_t count() const { return owed_.size(); }

 private:
  struct Owed {
    std::string cni_dir, pod_key;
    model::PodObjectPtr pod;
    std::string text;          // empty: see the record
    std::string request_id;    // empty: of an earlier process
    std::uint64_t number = 0;  // tells it from a later one of the same container
  };
  struct Status {
    model::PodObjectPtr pod;
    std::string text;
  };
  // What became of an attempt.
  using Attempt = std::optional<attach::StatusDelay>;
  // Takes up one record of an earlier process.
  struct Found {
    std::string cni_dir, container_id, pod_key, added_at;
    bool owes = false;
  };

  attach::Core& core() const { return attachments_.core(); }
  void add(std::string container_id, Owed owed);
  bool is_owed(const std::string& container_id, std::uint64_t number) const;
  Owed take(const std::string& container_id);
  aio::Task<void> write(std::string container_id);
  // Whether the status needs no further attempt.
  bool conclude(const std::string& container_id, const Owed& owed,
                const Result<Attempt>& attempted);
  aio::Task<Attempt> attempt(std::string container_id, Owed owed);
  // The status as its record has it; none if the record owes nothing, or if the pod is gone.
  aio::Task<std::optional<Status>> recorded(std::string cni_dir, std::string container_id);
  // Yields why some records cannot be read now.
  aio::Task<ErrorList> take_up_readable(std::set<std::string> cni_dirs);
  void take_up_newest(std::map<std::string, Found> newest);
  aio::Task<std::optional<Found>> look_at(std::string cni_dir, std::string container_id);
  aio::Task<std::string> text_of(model::AttachmentRecord record);
  aio::Task<void> settle(std::string cni_dir, std::string container_id, Log log);
  void postpone(const Owed& owed, const attach::StatusDelay& delay);
  // For lines about what one request owes.
  Log log_of(const Owed& owed) const { return log_.with_request(owed.request_id); }
  void note_success();

  attach::Attachments& attachments_;
  const Settings settings_;
  const Log log_;
  std::map<std::string, Owed> owed_;            // by container id
  std::map<std::string, std::string> of_pods_;  // the newest container of each pod
  std::deque<std::string> waiting_;             // containers; some no longer owe a status
  std::size_t running_ = 0;
  std::size_t text_bytes_ = 0;  // of all texts in owed_
  std::uint64_t last_number_ = 0;
  Backoff backoff_, denied_backoff_;
  std::optional<Time> pause_;  // before the next attempt: the server is unwell
  bool is_unwell_ = false;
  aio::Event change_;
  aio::Notifier ended_;  // an attempt
  aio::Group writes_;
};

}  // namespace mnet::status
