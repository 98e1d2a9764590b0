// Whether a tool does its work (04, 1.15): published by the process itself in memory that only
// processes of its container can reach, and read by the command `health`, so that a probe needs
// neither a port nor a folder that can be written.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "aio/task.h"
#include "base/result.h"
#include "nodetools/output.h"
#include "sys/fd.h"

namespace mnet::nodetools {

class Health {
 public:
  // Not ready until told so. Without a memory to publish it in, nothing is published.
  explicit Health(std::string_view program);

  void ready() { set(true, "ready"); }
  void not_ready(std::string_view why) { set(false, why); }
  bool is_ready() const { return is_ready_; }
  const std::string& why() const { return why_; }

  // Shows again and again that the loop turns; ends when cancelled.
  aio::Task<void> beat();

 private:
  void set(bool is_ready, std::string_view why);
  void publish() const;

  sys::UniqueFd memory_;
  bool is_ready_ = false;
  std::string why_ = "starting";
};

// What one process has published.
struct PublishedHealth {
  bool is_ready = false;
  std::chrono::seconds age{0};
  std::string why = {};
};
Result<PublishedHealth> parse_health(std::string_view text,
                                     std::chrono::steady_clock::time_point now);

// The command `health`: says how the processes of the program in this container are. Exit status 0
// if there is one, and all are ready.
int check_health(std::string_view program, Output& output);

}  // namespace mnet::nodetools
