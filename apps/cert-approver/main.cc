// cert-approver: answers the requests of multus daemons for client certificates (03, 8.2).

#include "base/command_line.h"
#include "cert_approver/program.h"

int main(int argc, char** argv) {
  return mnet::cert_approver::run_program(mnet::words_of(argc, argv));
}
