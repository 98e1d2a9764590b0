#include <openssl/safestack.h>
#include <openssl/types.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/try.h"
#include "http/pem.h"
#include "http/trust.h"
#include "json/at.h"
#include "json/json.h"
#include "our_reading.h"

namespace mnet::readers {

Result<json::Value> read_chain(std::string_view text) {
  MNET_TRY(auto&& input, json::parse_object(text));
  const std::unique_ptr<X509_STORE, decltype(&X509_STORE_free)> store(X509_STORE_new(),
                                                                      &X509_STORE_free);
  MNET_TRY_VOID(http::add_authorities(store.get(), json::text_at(input, {"ca"})));
  std::vector<std::unique_ptr<X509, decltype(&X509_free)>> certificates;
  const std::unique_ptr<STACK_OF(X509), void (*)(STACK_OF(X509)*)> sent(
      sk_X509_new_null(), [](STACK_OF(X509) * stack) { sk_X509_free(stack); });
  for (const std::string& der : http::pem_blocks(json::text_at(input, {"chain"}), "CERTIFICATE")) {
    const auto* at = reinterpret_cast<const unsigned char*>(der.data());
    certificates.emplace_back(d2i_X509(nullptr, &at, static_cast<long>(der.size())), &X509_free);
    if (!certificates.back()) return Error(Errc::kInvalid, "a certificate cannot be read");
    sk_X509_push(sent.get(), certificates.back().get());
  }
  if (certificates.empty()) return Error(Errc::kInvalid, "nothing was sent");
  const std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> received(
      X509_STORE_CTX_new(), &X509_STORE_CTX_free);
  X509_STORE_CTX_init(received.get(), store.get(), certificates.front().get(), sent.get());
  const int verdict = http::judge_server(received.get(), json::text_at(input, {"name"}));
  if (verdict == X509_V_OK) return json::Value(true);
  return Error(Errc::kDenied, X509_verify_cert_error_string(verdict));
}

}  // namespace mnet::readers
