// install_multus: copies the plugin programs to the host (03, 9.3), even while old ones run there.

#include "base/command_line.h"
#include "install/program.h"

int main(int argc, char** argv) { return mnet::install::run_program(mnet::words_of(argc, argv)); }
