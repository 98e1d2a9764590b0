/* Does nothing: what starting any program costs. Static, without libraries. */
#include "freestanding.h"

static int run(char** environment) {
  (void)environment;
  return 0;
}
