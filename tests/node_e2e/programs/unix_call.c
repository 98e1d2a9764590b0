/* unix_call PATH: sends stdin to a unix socket and prints the answer until the peer closes. busybox has no such client. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int copy(int from, int to) {
  char buffer[65536];
  ssize_t got;
  while ((got = read(from, buffer, sizeof buffer)) > 0) {
    for (ssize_t done = 0; done < got;) {
      ssize_t wrote = write(to, buffer + done, (size_t)(got - done));
      if (wrote < 0) return 1;
      done += wrote;
    }
  }
  return got < 0;
}

int main(int argc, char** argv) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (argc != 2 || strlen(argv[1]) >= sizeof address.sun_path) return 2;
  strcpy(address.sun_path, argv[1]);
  int peer = socket(AF_UNIX, SOCK_STREAM, 0);
  if (peer < 0 || connect(peer, (struct sockaddr*)&address, sizeof address) != 0) {
    perror(argv[1]);
    return 1;
  }
  return copy(0, peer) || copy(peer, 1);
}
