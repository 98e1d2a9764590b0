/* The cheapest CNI plugin there can be, for benchmarks: reads its stdin, answers ADD with a fixed
 * result in which only the names of the interface and of the namespace vary, VERSION with all
 * versions, everything else with success. Static, without libraries: it also runs in an empty
 * chroot. With WAIT_MS its ADD takes that long, and no more of the processor. */
#include "freestanding.h"

static char answer[8192];
static size_t length;

static void add(const char* text) {
  while (*text != 0 && length < sizeof answer) answer[length++] = *text++;
}

/* The value of `name` ("NAME="); the empty text if it is not set. */
static const char* variable(char** environment, const char* name) {
  for (; *environment != NULL; ++environment) {
    const char* entry = *environment;
    const char* wanted = name;
    while (*wanted != 0 && *entry == *wanted) ++entry, ++wanted;
    if (*wanted == 0) return entry;
  }
  return "";
}

static int equal(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

static void drain_stdin(void) {
  static char unused[16384];
  while (system_call(kRead, 0, (long)unused, sizeof unused) > 0) {
  }
}

static void wait(void) {
#ifdef WAIT_MS
  const long time[2] = {0, WAIT_MS * 1000000L}; /* seconds, nanoseconds */
  system_call(kSleep, (long)time, 0, 0);
#endif
}

static int run(char** environment) {
  drain_stdin();
  const char* command = variable(environment, "CNI_COMMAND=");
  if (equal(command, "ADD")) {
    wait();
    add("{\"cniVersion\":\"1.0.0\",\"interfaces\":[{\"name\":\"");
    add(variable(environment, "CNI_IFNAME="));
    add("\",\"mac\":\"02:00:00:00:00:01\",\"sandbox\":\"");
    add(variable(environment, "CNI_NETNS="));
    add("\"}],\"ips\":[{\"interface\":0,\"address\":\"10.9.8.7/"
        "24\",\"gateway\":\"10.9.8.1\"}],\"dns\":{}}\n");
  } else if (equal(command, "VERSION")) {
    add("{\"cniVersion\":\"1.1.0\",\"supportedVersions\":[\"0.1.0\",\"0.2.0\",\"0.3.0\",\"0.3.1\","
        "\"0.4.0\",");
    add("\"1.0.0\",\"1.1.0\"]}\n");
  }
  return length == 0 || system_call(kWrite, 1, (long)answer, (long)length) == (long)length ? 0 : 1;
}
