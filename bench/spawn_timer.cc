// Times whole processes, from before the spawn until they are reaped, in turns, so that two
// programs run under the same conditions.
//
//   spawn-timer ROUNDS STDIN_FILE PROGRAM...
//
// Each program gets our environment, STDIN_FILE as stdin, and /dev/null as stdout. Prints one line
// per program: median and 90th percentile in microseconds.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ratio>
#include <string>
#include <vector>

extern char** environ;

namespace {

using Clock = std::chrono::steady_clock;

double time_one(const char* program, const char* stdin_file) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, stdin_file, O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  char* const argv[] = {const_cast<char*>(program), nullptr};
  pid_t child = -1;
  const auto start = Clock::now();
  const int failure = posix_spawn(&child, program, &actions, nullptr, argv, environ);
  int status = 0;
  if (failure == 0) waitpid(child, &status, 0);
  const std::chrono::duration<double, std::micro> took = Clock::now() - start;
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0 || status != 0) {
    std::fprintf(stderr, "spawn-timer: %s failed (spawn %d, status %d)\n", program, failure,
                 status);
    std::exit(1);  // NOLINT(concurrency-mt-unsafe): there is one thread
  }
  return took.count();
}

}  // namespace

int main(int argc, char** argv) {
  const long rounds = argc < 4 ? 0 : std::strtol(argv[1], nullptr, 10);
  if (rounds < 1) {
    std::fputs("usage: spawn-timer ROUNDS STDIN_FILE PROGRAM...\n", stderr);
    return 2;
  }
  const std::vector<std::string> programs(argv + 3, argv + argc);
  std::vector<std::vector<double>> times(programs.size());
  for (long round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < programs.size(); ++i) {
      times[i].push_back(time_one(programs[i].c_str(), argv[2]));
    }
  }
  for (std::size_t i = 0; i < programs.size(); ++i) {
    std::ranges::sort(times[i]);
    const std::size_t last = times[i].size() - 1;
    std::printf("%.1f %.1f %s\n", times[i][last / 2], times[i][last * 9 / 10], programs[i].c_str());
  }
  return 0;
}
