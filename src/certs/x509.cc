#include "certs/x509.h"

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/safestack.h>
#include <openssl/types.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"

namespace mnet::certs {
namespace {

template <auto kFree>
struct Free {
  void operator()(auto* thing) const { kFree(thing); }
};
void free_bytes(void* bytes) { OPENSSL_free(bytes); }
void free_extensions(STACK_OF(X509_EXTENSION) * list) {
  sk_X509_EXTENSION_pop_free(list, X509_EXTENSION_free);
}
using BioPtr = std::unique_ptr<BIO, Free<BIO_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using CertificatePtr = std::unique_ptr<X509, Free<X509_free>>;
using RequestPtr = std::unique_ptr<X509_REQ, Free<X509_REQ_free>>;
using NamePtr = std::unique_ptr<X509_NAME, Free<X509_NAME_free>>;
using Bytes = std::unique_ptr<unsigned char, Free<free_bytes>>;

Error failed(std::string_view what) {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return Error(Errc::kInvalid, reason == nullptr ? std::string(what) : cat(what, ": ", reason));
}

struct Block {
  std::string type;
  std::string der;
};

// The next PEM block; none at the end of the text, or where nothing more can be read as one.
std::optional<Block> next_block(BIO* bio) {
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* data = nullptr;
  long length = 0;
  const bool is_read = PEM_read_bio(bio, &name, &header, &data, &length) == 1;
  ERR_clear_error();
  if (!is_read) return std::nullopt;
  Block block{name, std::string(reinterpret_cast<const char*>(data), static_cast<size_t>(length))};
  OPENSSL_free(name);
  OPENSSL_free(header);
  OPENSSL_free(data);
  return block;
}

BioPtr bio_of(std::string_view text) {
  constexpr std::size_t kMost = 1u << 20;  // no chain is that long
  return BioPtr(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size() < kMost ? text.size() : kMost)));
}

std::string take_text(BIO* bio) {
  char* bytes = nullptr;
  const long count = BIO_get_mem_data(bio, &bytes);
  return count <= 0 ? std::string() : std::string(bytes, static_cast<std::size_t>(count));
}

// One DER object and nothing after it.
template <auto kRead>
auto whole(const std::string& der) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const unsigned char* const end = at + der.size();
  auto* read = kRead(nullptr, &at, static_cast<long>(der.size()));
  return std::pair(read, read != nullptr && at == end);
}

std::optional<std::string> text_of(const ASN1_STRING* value) {
  unsigned char* bytes = nullptr;
  const int length = ASN1_STRING_to_UTF8(&bytes, value);
  if (length < 0) {
    ERR_clear_error();
    return std::nullopt;
  }
  const Bytes owned(bytes);
  return std::string(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
}

std::string attribute_name(const ASN1_OBJECT* object) {
  const int number = OBJ_obj2nid(object);
  if (number != NID_undef) return OBJ_nid2sn(number);
  std::array<char, 80> text{};
  OBJ_obj2txt(text.data(), text.size(), object, 1);
  return text.data();
}

// `further`: the names of what is neither one CN nor an O; may be null.
Subject subject_of(const X509_NAME* name, std::vector<std::string>* further) {
  Subject out;
  int common_names = 0;
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    const ASN1_OBJECT* kind = X509_NAME_ENTRY_get_object(entry);
    const int number = OBJ_obj2nid(kind);
    auto value = text_of(X509_NAME_ENTRY_get_data(entry));
    if (number == NID_organizationName && value) {
      out.organizations.push_back(*std::move(value));
    } else if (number == NID_commonName && value && ++common_names == 1) {
      out.common_name = *std::move(value);
    } else {
      if (number == NID_commonName && value) out.common_name = *std::move(value);
      if (further != nullptr) further->push_back(attribute_name(kind));
    }
  }
  return out;
}

std::string key_type_of(EVP_PKEY* key) {
  if (key == nullptr) return "unknown";
  if (EVP_PKEY_get_base_id(key) != EVP_PKEY_EC) {
    const char* name = EVP_PKEY_get0_type_name(key);
    return cat(name == nullptr ? "unknown" : name, " ", EVP_PKEY_get_bits(key));
  }
  std::array<char, 64> group{};
  std::size_t length = 0;
  if (EVP_PKEY_get_group_name(key, group.data(), group.size(), &length) != 1) return "EC unknown";
  return cat("EC ", group.data());
}

void read_extensions(X509_REQ* request, Request& out) {
  STACK_OF(X509_EXTENSION)* extensions = X509_REQ_get_extensions(request);
  out.wants_extensions = extensions != nullptr && sk_X509_EXTENSION_num(extensions) > 0;
  out.wants_alt_names =
      extensions != nullptr && X509v3_get_ext_by_NID(extensions, NID_subject_alt_name, -1) >= 0;
  free_extensions(extensions);
  // An extension request that cannot be read is one, too.
  if (X509_REQ_get_attr_by_NID(request, NID_ext_req, -1) >= 0 ||
      X509_REQ_get_attr_by_NID(request, NID_ms_ext_req, -1) >= 0) {
    out.wants_extensions = true;
  }
  ERR_clear_error();
}

Result<Time> time_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return failed("certificate: bad time");
  // Certificates that do not expire are valid until the year 9999; the clock ends before.
  constexpr auto kLast = std::chrono::floor<std::chrono::seconds>(Time::max().time_since_epoch());
  const std::chrono::seconds seconds(::timegm(&parts));
  return Time(std::clamp<std::chrono::seconds>(seconds, -kLast, kLast));
}

// Not by MBSTRING_UTF8, which refuses a CN of more than 64 bytes: names of nodes may be longer.
bool add_entry(X509_NAME* name, const char* kind, const std::string& value) {
  return X509_NAME_add_entry_by_txt(name, kind, V_ASN1_UTF8STRING,
                                    reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()), -1, 0) == 1;
}

// Kubernetes prints organizations first.
Result<NamePtr> name_of(const Subject& subject) {
  NamePtr name(X509_NAME_new());
  for (const std::string& organization : subject.organizations) {
    if (!add_entry(name.get(), "O", organization)) return failed("organization");
  }
  if (!add_entry(name.get(), "CN", subject.common_name)) return failed("common name");
  return name;
}

Result<RequestPtr> sign_request(EVP_PKEY* key, const Subject& subject) {
  MNET_TRY(auto&& name, name_of(subject));
  RequestPtr request(X509_REQ_new());
  if (!request || X509_REQ_set_version(request.get(), X509_REQ_VERSION_1) != 1 ||
      X509_REQ_set_subject_name(request.get(), name.get()) != 1 ||
      X509_REQ_set_pubkey(request.get(), key) != 1 ||
      X509_REQ_sign(request.get(), key, EVP_sha256()) <= 0) {
    return failed("certificate request");
  }
  return request;
}

bool is_key(const std::string& type) {
  return type == "EC PRIVATE KEY" || type == "PRIVATE KEY" || type == "RSA PRIVATE KEY";
}

std::string pem_of(const Block& block) {
  const BioPtr out(BIO_new(BIO_s_mem()));
  PEM_write_bio(out.get(), block.type.c_str(), "",
                reinterpret_cast<const unsigned char*>(block.der.data()),
                static_cast<long>(block.der.size()));
  return take_text(out.get());
}

// The API server and the signer take requests apart with decoders of their own. What they could
// read otherwise than we do is not judged at all: a verdict on it would be one on another request.
Error ambiguous(std::string_view why) {
  return Error(Errc::kInvalid, cat("certificate request: ", why,
                                   ", so other programs may read a different request from it"));
}

// The one block of the text, a request in canonical form.
Result<Block> only_request(std::string_view pem) {
  const BioPtr bio = bio_of(pem);
  auto block = next_block(bio.get());
  if (!block) return Error(Errc::kInvalid, "certificate request: no PEM block");
  if (block->type != "CERTIFICATE REQUEST") {
    return Error(Errc::kInvalid,
                 cat("certificate request: PEM block of type ", go_quoted(block->type)));
  }
  if (pem_of(*block) != pem) return ambiguous("it is not exactly one PEM block in canonical form");
  return *std::move(block);
}

// A copy made of the parts: X509_NAME_dup would keep the bytes that were read.
NamePtr rebuilt(const X509_NAME* name) {
  NamePtr out(X509_NAME_new());
  int last_set = -1;
  for (int i = 0; out && i < X509_NAME_entry_count(name); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    const int set = X509_NAME_ENTRY_set(entry);
    constexpr int kSameSet = -1, kNewSet = 0;
    if (X509_NAME_add_entry(out.get(), entry, -1, set == last_set ? kSameSet : kNewSet) != 1) {
      return nullptr;
    }
    last_set = set;
  }
  return out;
}

// The request in DER, of what OpenSSL understood. With another subject it gives up the bytes that
// it keeps of what it read, and encodes that.
std::string encoded(X509_REQ* request) {
  const NamePtr name = rebuilt(X509_REQ_get_subject_name(request));
  if (!name || X509_REQ_set_subject_name(request, name.get()) != 1) return {};
  unsigned char* bytes = nullptr;
  const int length = i2d_X509_REQ(request, &bytes);
  if (length < 0) return {};
  const Bytes owned(bytes);
  return std::string(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
}

// Of other types of text Go ignores some and reads some differently.
bool is_plain_text(const ASN1_STRING* value) {
  const int type = ASN1_STRING_type(value);
  return type == V_ASN1_PRINTABLESTRING || type == V_ASN1_UTF8STRING;
}

bool has_plain_names(const X509_NAME* name) {
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    const int kind = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
    const bool counts = kind == NID_commonName || kind == NID_organizationName;
    if (counts && !is_plain_text(X509_NAME_ENTRY_get_data(entry))) return false;
  }
  return true;
}

// Go reads keys on P-256 in this form only; OpenSSL also reads curves that are written out, and
// points that are compressed or say twice whether y is odd.
bool is_usual_key(X509_REQ* request) {
  constexpr std::string_view kNamedCurveAndUncompressed(
      "\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07"
      "\x03\x42\x00\x04",
      27);
  unsigned char* bytes = nullptr;
  const int length = i2d_X509_PUBKEY(X509_REQ_get_X509_PUBKEY(request), &bytes);
  if (length < 0) return false;
  const Bytes owned(bytes);
  return std::string_view(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length))
      .starts_with(kNamedCurveAndUncompressed);
}

// Go knows fewer algorithms of signatures than OpenSSL.
bool is_usual_signature(const X509_REQ* request) {
  const int kind = X509_REQ_get_signature_nid(request);
  return kind == NID_ecdsa_with_SHA256 || kind == NID_ecdsa_with_SHA384 ||
         kind == NID_ecdsa_with_SHA512;
}

// Of a request for a key like ours. Others are denied for their keys.
Result<void> check_form(X509_REQ* request) {
  if (!is_usual_key(request)) return ambiguous("its key is not an uncompressed point");
  if (!is_usual_signature(request)) return ambiguous("its signature is of another kind");
  if (X509_REQ_get_attr_count(request) < 0) return ambiguous("it has no list of attributes");
  return {};
}

// DER has one form for each value; OpenSSL reads other forms of BER, too.
Result<void> check_encoding(X509_REQ* request, std::string_view der) {
  if (encoded(request) != der) {
    ERR_clear_error();
    return ambiguous("it is not in DER");
  }
  if (!has_plain_names(X509_REQ_get_subject_name(request))) {
    return ambiguous("a name in its subject is neither a PrintableString nor a UTF8String");
  }
  return {};
}

Result<void> read_certificate(const Block& block, Pair& out, CertificatePtr& own) {
  const auto [read, is_whole] = whole<d2i_X509>(block.der);
  CertificatePtr certificate(read);
  if (!is_whole) return failed("certificate: malformed");
  if (!own) {
    own = std::move(certificate);
    out.subject = subject_of(X509_get_subject_name(own.get()), nullptr);
    MNET_TRY(auto&& begin, time_of(X509_get0_notBefore(own.get())));
    MNET_TRY(auto&& end, time_of(X509_get0_notAfter(own.get())));
    out.not_before = begin;
    out.not_after = end;
  }
  out.certificates += pem_of(block);
  return {};
}

Result<KeyPtr> read_key(const Block& block) {
  const auto* at = reinterpret_cast<const unsigned char*>(block.der.data());
  KeyPtr key(d2i_AutoPrivateKey(nullptr, &at, static_cast<long>(block.der.size())));
  if (!key) return failed("private key: malformed");
  return key;
}

}  // namespace

Result<Request> parse_request(std::string_view pem) {
  MNET_TRY(const auto& block, only_request(pem));
  const auto [read, is_whole] = whole<d2i_X509_REQ>(block.der);
  const RequestPtr request(read);
  if (!is_whole) return failed("certificate request: malformed");
  MNET_TRY_VOID(check_encoding(request.get(), block.der));
  Request out;
  out.subject = subject_of(X509_REQ_get_subject_name(request.get()), &out.further_attributes);
  EVP_PKEY* key = X509_REQ_get0_pubkey(request.get());
  out.key_type = key_type_of(key);
  if (out.key_type == kOurKeyType) {
    MNET_TRY_VOID(check_form(request.get()));
  }
  out.is_signed = key != nullptr && X509_REQ_verify(request.get(), key) == 1;
  read_extensions(request.get(), out);
  return out;
}

Result<KeyAndRequest> make_request(const Subject& subject) {
  const KeyPtr key(EVP_EC_gen("P-256"));
  if (!key) return failed("private key");
  MNET_TRY(auto&& request, sign_request(key.get(), subject));
  KeyAndRequest out;
  const BioPtr key_bio(BIO_new(BIO_s_mem()));
  const BioPtr request_bio(BIO_new(BIO_s_mem()));
  // The traditional form is the one that the original writes.
  if (PEM_write_bio_PrivateKey_traditional(key_bio.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                           nullptr) != 1 ||
      PEM_write_bio_X509_REQ(request_bio.get(), request.get()) != 1) {
    return failed("certificate request");
  }
  out.key = take_text(key_bio.get());
  out.request = take_text(request_bio.get());
  return out;
}

Result<Pair> parse_pair(std::string_view pem) {
  Pair out;
  CertificatePtr own;
  KeyPtr key;
  const BioPtr bio = bio_of(pem);
  while (const auto block = next_block(bio.get())) {
    if (block->type == "CERTIFICATE") {
      MNET_TRY_VOID(read_certificate(*block, out, own));
    } else if (is_key(block->type) && !key) {
      MNET_TRY(auto&& read, read_key(*block));
      key = std::move(read);
      out.key = pem_of(*block);
    }
  }
  if (!own) return Error(Errc::kInvalid, "no certificate in PEM form");
  if (!key) return Error(Errc::kInvalid, "no private key in PEM form");
  if (X509_check_private_key(own.get(), key.get()) != 1) {
    return failed("the private key does not match the certificate");
  }
  return out;
}

}  // namespace mnet::certs
