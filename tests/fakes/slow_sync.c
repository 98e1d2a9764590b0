// Preloaded into a program (LD_PRELOAD), makes each fsync() take SLOW_SYNC_MS milliseconds longer, as on a slow disk. Several at a
// time take no longer than one.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int fsync(int fd) {
  const char* text = getenv("SLOW_SYNC_MS");
  const long wait = text == NULL ? 0 : strtol(text, NULL, 10);
  const struct timespec time = {.tv_sec = wait / 1000, .tv_nsec = wait % 1000 * 1000000};
  nanosleep(&time, NULL);
  return (int)syscall(SYS_fsync, fd);
}
