/* The sandbox of a pod: holds its namespaces, reaps its orphans, ends when told. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void end(int number) {
  (void)number;
  _exit(0);
}

int main(void) {
  signal(SIGTERM, end);
  signal(SIGINT, end);
  signal(SIGCHLD, SIG_IGN);
  for (;;) pause();
}
