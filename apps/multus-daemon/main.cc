// multus-daemon: the long-running server that attaches networks (03, 2).

#include "base/command_line.h"
#include "daemon/program.h"

int main(int argc, char** argv) { return mnet::daemon::run_program(mnet::words_of(argc, argv)); }
