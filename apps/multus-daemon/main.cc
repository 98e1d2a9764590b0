#include "base/command_line.h"
#include "daemon/daemon.h"

int main(int argc, char** argv) { return mnet::daemon::run_program(mnet::words_of(argc, argv)); }
