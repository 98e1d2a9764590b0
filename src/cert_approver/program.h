// What cert-approver does: answers the requests of multus daemons for client certificates
// (03, 8.2).
#pragma once

#include <string>
#include <vector>

namespace mnet::cert_approver {

// The whole program; yields its exit status. Takes the signals over and ends by them.
int run_program(const std::vector<std::string>& words);

}  // namespace mnet::cert_approver
