// kube-watch: runs a handler whenever an object or a file changes (04, 2).

#include "base/command_line.h"
#include "kube_watch/program.h"

int main(int argc, char** argv) {
  return mnet::kube_watch::run_program(mnet::words_of(argc, argv));
}
