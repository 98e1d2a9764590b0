// install_multus: copies the plugin programs to the host (03, 9.3), even while old ones run there.
// Under the names cp and sh it does what older manifests ask of their init container.

#include "base/command_line.h"
#include "install/copy_command.h"
#include "install/program.h"

int main(int argc, char** argv) {
  const auto words = mnet::words_of(argc, argv);
  const auto done = mnet::install::run_as(argc > 0 ? argv[0] : "", words);
  return done ? *done : mnet::install::run_program(words);
}
