// install_multus: puts the plugin programs onto the host (03, 9.3), also while old ones run there.

#include "base/command_line.h"
#include "install/program.h"

int main(int argc, char** argv) { return mnet::install::run_program(mnet::words_of(argc, argv)); }
