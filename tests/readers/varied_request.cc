#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/types.h>
#include <openssl/x509.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "certs/test_signer.h"
#include "inputs.h"

namespace mnet::readers {
namespace {

using certs::der;
using namespace std::literals;

// The object identifiers, whole elements.
const std::string kCommonName = "\x06\x03\x55\x04\x03";
const std::string kOrganization = "\x06\x03\x55\x04\x0a";
const std::string kEcKey = "\x06\x07\x2a\x86\x48\xce\x3d\x02\x01";
const std::string kP256 = "\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07";
const std::string kExtensions = "\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x09\x0e";
const std::string kPassword = "\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x09\x07";

struct Digest {
  const EVP_MD* (*type)();
  std::string_view algorithm;  // the object identifier, a whole element
};
constexpr std::array kDigests = {
    Digest{&EVP_sha256, "\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x02"sv},
    Digest{&EVP_sha1, "\x06\x07\x2a\x86\x48\xce\x3d\x04\x01"sv},
    Digest{&EVP_sha224, "\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x01"sv},
    Digest{&EVP_sha384, "\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x03"sv},
    Digest{&EVP_sha512, "\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x04"sv},
    Digest{&EVP_sha3_256, "\x06\x09\x60\x86\x48\x01\x65\x03\x04\x03\x0a"sv},
    // SHA-256, but the signature says SHA-384, and the other way round.
    Digest{&EVP_sha256, "\x06\x08\x2a\x86\x48\xce\x3d\x04\x03\x03"sv},
};

EVP_PKEY* signing_key() {
  static EVP_PKEY* key = EVP_EC_gen("P-256");
  return key;
}

// The usual request, part by part, each a whole element.
struct Parts {
  std::string version = "\x02\x01\x00"s;
  std::string organization = der(0x0c, "system:multus");
  std::string common_name = der(0x0c, "system:multus:node1");
  std::string more_names = {};  // further sets of the subject
  bool in_one_set = false;
  std::string curve = kP256;
  std::string point = {};
  char unused_key_bits = 0;
  std::string behind_key = {};
  std::string attributes = "\xa0\x00"s;
  Digest digest = kDigests[0];
  std::string parameters = {};  // of the signature's algorithm
  char unused_signature_bits = 0;
  std::string behind = {};
};

std::string point_of(EVP_PKEY* key, const char* format) {
  EVP_PKEY_set_utf8_string_param(key, "point-format", format);
  unsigned char* bytes = nullptr;
  const std::size_t size = EVP_PKEY_get1_encoded_public_key(key, &bytes);
  std::string point(reinterpret_cast<const char*>(bytes), size);
  OPENSSL_free(bytes);
  return point;
}

// x, then y, then a byte that says whether y is odd, before both: OpenSSL reads it, Go does not.
std::string hybrid_point() {
  std::string point = point_of(signing_key(), "uncompressed");
  point[0] = static_cast<char>(6 + (point.back() & 1));
  return point;
}

std::string explicit_curve() {
  EVP_PKEY* key = signing_key();
  EVP_PKEY* copy = EVP_PKEY_dup(key);
  EVP_PKEY_set_utf8_string_param(copy, "encoding", "explicit");
  unsigned char* bytes = nullptr;
  const int size = i2d_PUBKEY(copy, &bytes);
  const std::string info(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  EVP_PKEY_free(copy);
  // SEQUENCE { SEQUENCE { ecPublicKey, the parameters } ... }
  const std::size_t begin = info.find(kEcKey) + kEcKey.size();
  const std::size_t end = info.rfind("\x03\x42\x00\x04"sv);
  return info.substr(begin, end - begin);
}

std::string subject_of(const Parts& parts) {
  const std::string organization = der(0x30, kOrganization + parts.organization);
  const std::string common_name = der(0x30, kCommonName + parts.common_name);
  if (parts.in_one_set) return der(0x30, der(0x31, organization + common_name) + parts.more_names);
  return der(0x30, der(0x31, organization) + der(0x31, common_name) + parts.more_names);
}

std::string key_of(const Parts& parts) {
  return der(0x30, der(0x30, kEcKey + parts.curve) +
                       der(0x03, parts.unused_key_bits + parts.point) + parts.behind_key);
}

std::string signature_of(const std::string& info, const EVP_MD* digest) {
  EVP_MD_CTX* signing = EVP_MD_CTX_new();
  std::string signature(160, '\0');
  std::size_t size = signature.size();
  EVP_DigestSignInit(signing, nullptr, digest, nullptr, signing_key());
  EVP_DigestSign(signing, reinterpret_cast<unsigned char*>(signature.data()), &size,
                 reinterpret_cast<const unsigned char*>(info.data()), info.size());
  EVP_MD_CTX_free(signing);
  signature.resize(size);
  return signature;
}

std::string any_name(Chance& chance, std::string_view value) {
  constexpr std::array<unsigned char, 9> kTypes = {0x0c, 0x13, 0x16, 0x14, 0x1a,
                                                   0x1e, 0x1c, 0x04, 0x2c};
  constexpr std::array kMore = {""sv, "\0"sv, "\n"sv, " "sv, "\xff"sv, "\xc3\xa9"sv, ":"sv, "."sv};
  return der(chance.pick(kTypes), std::string(value) + std::string(chance.pick(kMore)));
}

std::string any_set(Chance& chance) {
  const std::string name = any_name(chance, "system:multus:node2");
  switch (chance.below(6)) {
    case 0:
      return der(0x31, "");
    case 1:
      return der(0x31, der(0x30, kCommonName + name));
    case 2:
      return der(0x31, der(0x30, kOrganization + name));
    case 3:  // CN and O with a zero in front of a number: BER at best
      return der(0x31, der(0x30, "\x06\x04\x55\x04\x80\x03" + name));
    case 4:
      return der(0x31, der(0x30, "\x06\x03\x55\x04\x0b" + name));
    default:
      return der(0x30, der(0x30, kCommonName + name));
  }
}

std::string any_attributes(Chance& chance) {
  const std::string names = der(0x30, "\x06\x03\x55\x1d\x11" + der(0x04, "\x30\x03\x82\x01\x61"));
  const std::string wanted = der(0x30, kExtensions + der(0x31, der(0x30, names)));
  const std::string password = der(0x30, kPassword + der(0x31, der(0x0c, "secret")));
  switch (chance.below(7)) {
    case 0:
      return {};
    case 1:
      return der(0xa0, wanted);
    case 2:
      return der(0xa0, password);
    case 3:
      return der(0xa0, der(0x30, kExtensions + der(0x31, "")));
    case 4:
      return der(0xa0, der(0x30, "\x06\x0a\x2b\x06\x01\x04\x01\x82\x37\x02\x01\x0e" +
                                     der(0x31, der(0x30, names))));
    case 5:
      return der(0xa0, der(0x30, kExtensions + der(0x31, der(0x30, ""))));
    default:
      return der(0x80, "");
  }
}

void vary_key(Parts& parts, Chance& chance) {
  switch (chance.below(7)) {
    case 0:
      parts.point = point_of(signing_key(), "compressed");
      break;
    case 1:
      parts.point = hybrid_point();
      break;
    case 2:
      parts.curve = explicit_curve();
      break;
    case 3:
      parts.curve = chance.one_in(2) ? std::string() : "\x05\x00"s;
      break;
    case 4:
      parts.unused_key_bits = static_cast<char>(1 + chance.below(8));
      break;
    case 5:
      parts.behind_key = "\x05\x00"s;
      break;
    default:
      parts.point += "\0"sv;
  }
}

void vary(Parts& parts, Chance& chance) {
  switch (chance.below(10)) {
    case 0:
      parts.version = der(0x02, std::string(1, static_cast<char>(chance.below(4))));
      break;
    case 1:
      parts.organization = any_name(chance, "system:multus");
      break;
    case 2:
      parts.common_name = any_name(chance, "system:multus:node1");
      break;
    case 3:
      parts.more_names = any_set(chance);
      break;
    case 4:
      parts.in_one_set = true;
      break;
    case 5:
      vary_key(parts, chance);
      break;
    case 6:
      parts.attributes = any_attributes(chance);
      break;
    case 7:
      parts.digest = chance.pick(kDigests);
      break;
    case 8:
      parts.parameters = chance.one_in(2) ? "\x05\x00"s : "\x30\x00"s;
      break;
    default:
      parts.unused_signature_bits = static_cast<char>(chance.below(3));
      parts.behind = chance.one_in(2) ? "\x05\x00"s : ""s;
  }
}

// One byte of the text inside the signature: length, tag or content.
void vary_byte(std::string& bytes, Chance& chance) {
  bytes[chance.below(bytes.size())] = static_cast<char>(chance.below(256));
}

std::string varied_pem(std::string pem, const std::string& usual, Chance& chance) {
  constexpr std::array kPieces = {"\n"sv,   "\r\n"sv, " "sv,  "-"sv,  "A: b\n"sv,
                                  "\n\n"sv, "="sv,    "\t"sv, "\0"sv, "-----BEGIN X-----\n"sv};
  switch (chance.below(6)) {
    case 0:
      return pem + usual;
    case 1:
      return std::string(chance.below(600), 'x') + pem + usual;
    case 2:
      return pem.insert(chance.below(pem.size() + 1), chance.pick(kPieces));
    case 3:
      return pem.erase(chance.below(pem.size()), 1);
    case 4:
      pem[chance.below(pem.size())] = static_cast<char>(chance.below(256));
      return pem;
    default:
      return pem.substr(0, pem.size() - chance.below(40)) + usual;
  }
}

std::string pem_of(const Parts& parts, Chance& chance) {
  std::string info = parts.version + subject_of(parts) + key_of(parts) + parts.attributes;
  if (chance.one_in(4)) vary_byte(info, chance);
  info = der(0x30, info);
  const std::string algorithm = der(0x30, std::string(parts.digest.algorithm) + parts.parameters);
  std::string signature = parts.unused_signature_bits + signature_of(info, parts.digest.type());
  if (chance.one_in(16)) vary_byte(signature, chance);
  return certs::request_pem(der(0x30, info + algorithm + der(0x03, signature) + parts.behind));
}

}  // namespace

std::string varied_request(Chance& chance) {
  Parts usual;
  usual.point = point_of(signing_key(), "uncompressed");
  Parts parts = usual;
  for (std::size_t left = chance.below(3); left > 0; --left) vary(parts, chance);
  std::string pem = pem_of(parts, chance);
  return chance.one_in(4) ? varied_pem(std::move(pem), pem_of(usual, chance), chance) : pem;
}

}  // namespace mnet::readers
