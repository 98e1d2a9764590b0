// What log files need from the program around them.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"

namespace mnet::logfile {

struct Surroundings {
  // Told of a file that cannot be written, once until a line gets through again, and of backups
  // that cannot be compressed or removed; from any thread. Default: an error line on stderr.
  std::function<void(const std::string& message)> report;
  // Runs a job that may take seconds (compressing 100 MiB) somewhere else, once, some time; on
  // aio::BlockingPool, say. Default: at once, in the thread that writes the line. False: it cannot
  // be run now; the next rotation asks again.
  std::function<bool(std::function<void()> job)> background;
  const WallClock* clock = &WallClock::system();
};

}  // namespace mnet::logfile
