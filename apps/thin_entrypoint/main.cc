// thin_entrypoint: installs the thin multus on a node and keeps its files current (03, 9.2).

#include "base/command_line.h"
#include "thin_entrypoint/program.h"

int main(int argc, char** argv) {
  return mnet::thin_entrypoint::run_program(mnet::words_of(argc, argv));
}
