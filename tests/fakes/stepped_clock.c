// Preloaded into a program (LD_PRELOAD), makes its wall clock wrong by as many seconds as a file says, which is named by STEPPED_CLOCK and
// holds one 64-bit number. The number may change at any time. Clocks that cannot be set, such as CLOCK_MONOTONIC, stay right.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t* offset;

__attribute__((constructor)) static void map_offset(void) {
  const char* path = getenv("STEPPED_CLOCK");
  const int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) abort();
  void* mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) abort();
  close(fd);
  offset = mapped;
}

int clock_gettime(clockid_t clock, struct timespec* out) {
  const int done = (int)syscall(SYS_clock_gettime, clock, out);
  if (done == 0 && offset != NULL && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    out->tv_sec += *offset;
  }
  return done;
}

int gettimeofday(struct timeval* out, void* zone) {
  (void)zone;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != NULL) *out = now.tv_sec;
  return now.tv_sec;
}
