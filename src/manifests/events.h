// Events of pods, appended to `events.jsonl` in the folder of manifests: one JSON object per line
// in the shape of a core v1 Event (02, 5.6).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "base/sha256.h"
#include "json/json.h"
#include "manifests/objects.h"
#include "sys/append_file.h"

namespace mnet::manifests {

struct Event {
  PodRef pod{};
  std::string type{};  // Normal, Warning
  std::string reason{};
  std::string message{};
  std::string request_id{};  // for log lines about it; not part of the Event
};

// An event that equals an earlier one in pod, type, reason and message is the same Event to the
// API: its line has the name and the first time of the earlier one, and a count that is one higher.
// The last line of a name is the Event as it is now. Only some of the earlier ones are
// remembered; a repeat of a forgotten one begins anew.
//
// A file that would grow beyond `max_bytes` becomes `events.jsonl.1`, in the place of the one
// before: at most twice that much is ever kept.
class EventFile {
 public:
  EventFile(const std::string& folder, Log log, const WallClock* clock = &WallClock::system(),
            std::size_t max_bytes = 8u << 20);

  // Never fails: an event that cannot be written is only logged. One write to the page cache,
  // nothing is synced.
  void append(const Event& event);
  // Closes the file; the next event opens it again.
  void close() { file_.reset(); }

 private:
  struct Seen {
    Sha256::Digest event = {};  // pod, type, reason and message
    std::chrono::system_clock::time_point first = {};
    std::int64_t count = 0;
  };
  Seen see(const Event& event);
  Result<void> write(const std::string& line);
  void report(const Event& event, const Error& why);

  const std::string path_;
  const Log log_;
  const WallClock* const clock_;
  const std::size_t max_bytes_;
  // In one block: one by one they would lie between the blocks of requests and keep these pages
  // (0047).
  std::vector<Seen> seen_;
  std::unique_ptr<sys::AppendFile> file_;  // nullptr: not open
  bool reported_ = false;
};

}  // namespace mnet::manifests
