// kube-watch: runs a handler whenever an object or a file has changed (04, 2).

#include "base/command_line.h"
#include "nodetools/watch.h"

int main(int argc, char** argv) {
  return mnet::nodetools::run_kube_watch(mnet::words_of(argc, argv));
}
