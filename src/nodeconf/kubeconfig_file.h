// The text of the kubeconfig files that we write (03, 9.2 and 9.3), and the address of the API
// server that the environment of a pod names. Reads and asks nothing.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace mnet::nodeconf {

// One cluster, one user, one context. What is empty is left out.
struct Kubeconfig {
  std::string cluster = {}, user = {}, context = {};  // names
  std::string ns = {};
  std::string server = {};
  std::string ca = {};  // PEM; goes in as certificate-authority-data
  bool is_insecure = false;
  std::string tls_server_name = {}, proxy_url = {};
  std::string token = {};
  std::string client_certificate = {}, client_key = {};  // files
};

// Whatever the values hold, the text is one YAML document with exactly these values.
std::string kubeconfig_text(const Kubeconfig& config);

// `<KUBERNETES_SERVICE_PROTOCOL or https>://<host>:<port>`, an IPv6 host in brackets (06, pain 50).
// An error names the variable that is missing.
Result<std::string> service_url(const std::vector<std::string>& environment);

}  // namespace mnet::nodeconf
