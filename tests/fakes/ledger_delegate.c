// A CNI plugin that records what it attached, and does nothing else: ADD makes the file /srv/ledger/attached/<container>,<ifname>, DEL removes it, CHECK asks for
// it, GC removes those whose container its configuration does not name. Container ids are a letter and seven digits, so that each attachment can
// have an address of its own.
//
// An ADD of what is attached already is written to /srv/ledger/doubles. The file /srv/ledger/faults/<command>, if there is one, says how each
// such call goes wrong: `fail` and `die` before the work, `fail-late` and `die-late` after it, `slow`: takes a tenth of a second in the middle.
#include <fcntl.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEDGER "/srv/ledger"

static char fault[16];
static char config[1 << 20];

static const char* variable(const char* name) {
  const char* value = getenv(name);
  return value == NULL ? "" : value;
}

static int refuse(const char* why) {
  printf("{\"cniVersion\":\"1.1.0\",\"code\":110,\"msg\":\"ledger: %s\"}", why);
  fflush(stdout);
  return 1;
}

static size_t read_file(int fd, char* into, size_t size) {
  size_t length = 0;
  ssize_t count;
  while (length + 1 < size && (count = read(fd, into + length, size - 1 - length)) > 0) length += (size_t)count;
  into[length] = '\0';
  return length;
}

static void read_fault(const char* command) {
  char path[64];
  snprintf(path, sizeof path, LEDGER "/faults/%s", command);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  read_file(fd, fault, sizeof fault);
  close(fd);
}

static int is(const char* kind) { return strcmp(fault, kind) == 0; }

static void note_double(const char* name) {
  const int fd = open(LEDGER "/doubles", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd >= 0) dprintf(fd, "%s\n", name);
}

// One address for each container, and one network for each interface name. There is no such interface, so the result names no sandbox.
static void print_result(const char* container, const char* ifname) {
  const int number = atoi(container + 1);
  int network = 10;
  for (const char* c = ifname; *c != '\0'; ++c) network = 10 + (network + *c) % 90;
  printf("{\"cniVersion\":\"1.1.0\",\"interfaces\":[{\"name\":\"%s\",\"mac\":\"02:00:00:00:00:01\"}],"
         "\"ips\":[{\"address\":\"%d.%d.%d.%d/8\",\"interface\":0}]}",
         ifname, network, number / 65536 % 256, number / 256 % 256, number % 256);
  fflush(stdout);
}

static void collect(void) {
  DIR* folder = opendir(LEDGER "/attached");
  const struct dirent* entry;
  while (folder != NULL && (entry = readdir(folder)) != NULL) {
    char id[32], path[320];
    snprintf(id, sizeof id, "\"%.8s\"", entry->d_name);
    snprintf(path, sizeof path, LEDGER "/attached/%s", entry->d_name);
    if (strchr(entry->d_name, ',') != NULL && strstr(config, id) == NULL) unlink(path);
  }
}

static int work(const char* command, const char* container, const char* ifname) {
  char path[320];
  snprintf(path, sizeof path, LEDGER "/attached/%s,%s", container, ifname);
  if (strcmp(command, "ADD") == 0) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) {
      note_double(path);
      return refuse("attached already");
    }
  } else if (strcmp(command, "DEL") == 0) {
    unlink(path);
  } else if (strcmp(command, "CHECK") == 0) {
    if (access(path, F_OK) != 0) return refuse("not attached");
  } else if (strcmp(command, "GC") == 0) {
    collect();
  }
  return 0;
}

int main(void) {
  const char* command = variable("CNI_COMMAND");
  const char* container = variable("CNI_CONTAINERID");
  const char* ifname = variable("CNI_IFNAME");
  if (strcmp(command, "VERSION") == 0) {
    puts("{\"cniVersion\":\"1.1.0\",\"supportedVersions\":[\"1.0.0\",\"1.1.0\"]}");
    return 0;
  }
  read_file(STDIN_FILENO, config, sizeof config);
  read_fault(command);
  if (is("fail")) return refuse("told to fail");
  if (is("die")) raise(SIGKILL);
  if (is("slow")) usleep(50000);
  const int status = work(command, container, ifname);
  if (status != 0) return status;
  if (is("slow")) usleep(50000);
  if (is("die-late")) raise(SIGKILL);
  if (is("fail-late")) return refuse("told to fail when all was done");
  if (strcmp(command, "ADD") == 0) print_result(container, ifname);
  return 0;
}
