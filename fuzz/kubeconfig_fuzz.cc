// Configuration of the Kubernetes client: kubeconfig files, URLs in them, answers of exec plugins,
// tokens.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "http/proxy.h"
#include "http/url.h"
#include "kube/config.h"
#include "kube/exec_plugin.h"
#include "kube/token.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)mnet::kube::parse_kubeconfig(text, "/etc/multus");
  (void)mnet::kube::parse_exec_credential(text);
  (void)mnet::kube::parse_rfc3339(text);
  (void)mnet::kube::life_of_token(text);
  (void)mnet::http::parse_url(text);
  (void)mnet::http::parse_proxy(text);
  return 0;
}
