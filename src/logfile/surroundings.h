// What log files need from the program around them.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"

namespace mnet::logfile {

struct Surroundings {
  // Called, from any thread, when a file cannot be written (once, until a line is written again)
  // and when backups cannot be compressed or removed. Default: an error line on stderr.
  std::function<void(const std::string& message)> report;
  // Runs a job that may take seconds (compressing 100 MiB) once, some time later, for example on
  // aio::BlockingPool. Returns false if it cannot run the job now; the next rotation asks again.
  // Default: runs it at once, on the thread that writes the line.
  std::function<bool(std::function<void()> job)> background;
  const WallClock* clock = &WallClock::system();
};

}  // namespace mnet::logfile
