#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/types.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "certs/test_signer.h"
#include "inputs.h"
#include "json/json.h"

namespace mnet::readers {
namespace {

// Keys are made once; `name` tells them apart, and one whose name begins with `rsa` has 1024 bits.
EVP_PKEY* key_of(const std::string& name) {
  static std::map<std::string, std::shared_ptr<EVP_PKEY>> keys;
  std::shared_ptr<EVP_PKEY>& key = keys[name];
  if (key == nullptr) {
    key.reset(name.starts_with("rsa") ? EVP_RSA_gen(1024) : EVP_EC_gen("P-256"), EVP_PKEY_free);
  }
  return key.get();
}

// A certificate to be made: extensions in OpenSSL's notation, none if empty.
struct Plan {
  std::string subject, issuer;   // common names
  std::string key, signer;       // names of keys
  std::string constraints = {};  // basicConstraints
  std::string usage = {}, extended = {}, names = {}, name_constraints = {};
  std::string key_id = {}, authority_id = {};  // bytes
  std::string unknown_critical = {};           // an object identifier
  long begins = -3600, ends = 24L * 3600;      // seconds from now
  long version = X509_VERSION_3;
  const EVP_MD* (*digest)() = &EVP_sha256;
};

void set_name(X509_NAME* name, const std::string& common_name) {
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                             0);
}

void extend(X509* certificate, int kind, const std::string& value) {
  if (value.empty()) return;
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

void extend_raw(X509* certificate, const char* kind, bool is_critical, const std::string& der) {
  ASN1_OCTET_STRING* content = ASN1_OCTET_STRING_new();
  ASN1_OCTET_STRING_set(content, reinterpret_cast<const unsigned char*>(der.data()),
                        static_cast<int>(der.size()));
  ASN1_OBJECT* object = OBJ_txt2obj(kind, 0);
  X509_EXTENSION* extension =
      X509_EXTENSION_create_by_OBJ(nullptr, object, is_critical ? 1 : 0, content);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  ASN1_OBJECT_free(object);
  ASN1_OCTET_STRING_free(content);
}

std::string pem_of(const Plan& plan) {
  static long serial = 0;
  X509* certificate = X509_new();
  X509_set_version(certificate, plan.version);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate), plan.begins);
  X509_gmtime_adj(X509_getm_notAfter(certificate), plan.ends);
  set_name(X509_get_subject_name(certificate), plan.subject);
  set_name(X509_get_issuer_name(certificate), plan.issuer);
  X509_set_pubkey(certificate, key_of(plan.key));
  if (plan.version == X509_VERSION_3) {
    extend(certificate, NID_basic_constraints, plan.constraints);
    extend(certificate, NID_key_usage, plan.usage);
    extend(certificate, NID_ext_key_usage, plan.extended);
    extend(certificate, NID_subject_alt_name, plan.names);
    extend(certificate, NID_name_constraints, plan.name_constraints);
    using certs::der;
    if (!plan.key_id.empty()) {
      extend_raw(certificate, "2.5.29.14", false, der(0x04, plan.key_id));
    }
    if (!plan.authority_id.empty()) {
      extend_raw(certificate, "2.5.29.35", false, der(0x30, der(0x80, plan.authority_id)));
    }
    if (!plan.unknown_critical.empty()) {
      extend_raw(certificate, plan.unknown_critical.c_str(), true, der(0x05, ""));
    }
  }
  X509_sign(certificate, key_of(plan.signer), plan.digest());
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, certificate);
  X509_free(certificate);
  return certs::test_detail::take(bio);
}

// Authority, intermediate and server, another authority of the first one's name, and which of them
// are in the bundle and in what the server sends. As it stands everything is in order.
struct Scene {
  Plan root{.subject = "root",
            .issuer = "root",
            .key = "root",
            .signer = "root",
            .constraints = "critical,CA:TRUE"};
  Plan other{.subject = "root",
             .issuer = "root",
             .key = "other",
             .signer = "other",
             .constraints = "critical,CA:TRUE"};
  Plan intermediate{.subject = "intermediate",
                    .issuer = "root",
                    .key = "intermediate",
                    .signer = "root",
                    .constraints = "critical,CA:TRUE"};
  Plan leaf{.subject = "server",
            .issuer = "intermediate",
            .key = "server",
            .signer = "intermediate",
            .names = "DNS:kube.test,IP:127.0.0.1"};
  // The key of `root`, certified by the authority `other`.
  Plan crossed{.subject = "root",
               .issuer = "root",
               .key = "root",
               .signer = "other",
               .constraints = "critical,CA:TRUE"};
  std::string bundle = "r";  // r: root, o: other, i: intermediate, s: server, c: crossed
  std::string sent = "i";    // after the server's own
  std::string before = {};   // a text before the bundle
  std::string name = "kube.test";
};

using Change = void (*)(Scene&);

// What may be unusual; each is harmless, or not, by itself and together with others.
const std::array kChanges = std::to_array<Change>({
    // which certificates there are
    [](Scene& s) { s.bundle = "i"; },
    [](Scene& s) { s.bundle = "s"; },
    [](Scene& s) { s.bundle = "or"; },
    [](Scene& s) { s.bundle = "ro"; },
    [](Scene& s) { s.bundle = "o"; },
    [](Scene& s) { s.bundle = "io"; },
    [](Scene& s) { s.bundle = "rr"; },
    [](Scene& s) { s.bundle = ""; },
    [](Scene& s) { s.sent = ""; },
    [](Scene& s) { s.sent = "ri"; },
    [](Scene& s) { s.sent = "oir"; },
    [](Scene& s) { s.sent = "oi"; },
    [](Scene& s) { s.bundle = "o", s.sent = "ic"; },
    [](Scene& s) { s.bundle = "o", s.sent = "ci"; },
    [](Scene& s) { s.bundle = "oc"; },
    [](Scene& s) { s.leaf.issuer = s.leaf.signer = "root"; },
    [](Scene& s) { s.leaf.signer = "root"; },
    [](Scene& s) { s.leaf.issuer = "root"; },
    [](Scene& s) { s.leaf.issuer = "server", s.leaf.signer = "server", s.bundle = "s"; },
    // what is in the bundle besides
    [](Scene& s) { s.before = "# made by hand\n"; },
    [](Scene& s) { s.before = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"; },
    [](Scene& s) { s.before = "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"; },
    [](Scene& s) { s.before = "-----BEGIN CERTIFICATE-----\nMIIB\n"; },
    [](Scene& s) { s.before = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"; },
    [](Scene& s) { s.before = "-----BEGIN CERTIFICATE-----\nA: b\n\nAAAA\n"; },
    [](Scene& s) { s.before = "-----BEGIN X509 CRL-----\nAAAA\n-----END CERTIFICATE-----\n"; },
    [](Scene& s) { s.before = "no end of line "; },
    // keys and signatures
    [](Scene& s) { s.root.key = s.root.signer = s.intermediate.signer = "rsa-root"; },
    [](Scene& s) { s.leaf.key = "rsa-server"; },
    [](Scene& s) { s.intermediate.digest = &EVP_sha1; },
    [](Scene& s) { s.root.digest = &EVP_sha1; },
    [](Scene& s) { s.leaf.digest = &EVP_sha1; },
    // key identifiers
    [](Scene& s) { s.root.key_id = s.other.key_id = s.intermediate.authority_id = "1"; },
    [](Scene& s) { s.root.key_id = "1", s.other.key_id = s.intermediate.authority_id = "2"; },
    [](Scene& s) { s.intermediate.authority_id = "3"; },
    [](Scene& s) { s.intermediate.key_id = "4", s.leaf.authority_id = "5"; },
    // dates
    [](Scene& s) { s.root.ends = -60; },
    [](Scene& s) { s.other.ends = -60; },
    [](Scene& s) { s.intermediate.ends = -60; },
    [](Scene& s) { s.leaf.ends = -60; },
    [](Scene& s) { s.leaf.begins = 3600; },
    // who may issue
    [](Scene& s) { s.root.constraints = ""; },
    [](Scene& s) { s.root.constraints = "", s.root.usage = "critical,keyCertSign"; },
    [](Scene& s) { s.root.constraints = "CA:FALSE"; },
    [](Scene& s) { s.root.version = X509_VERSION_1; },
    [](Scene& s) { s.intermediate.constraints = ""; },
    [](Scene& s) { s.intermediate.constraints = "critical,CA:FALSE"; },
    [](Scene& s) { s.intermediate.constraints = "critical,CA:TRUE,pathlen:0"; },
    [](Scene& s) { s.root.constraints = "critical,CA:TRUE,pathlen:0"; },
    [](Scene& s) { s.root.usage = "critical,digitalSignature"; },
    [](Scene& s) { s.intermediate.usage = "critical,keyCertSign,cRLSign"; },
    [](Scene& s) { s.leaf.constraints = "critical,CA:TRUE"; },
    [](Scene& s) { s.leaf.usage = "critical,keyCertSign"; },
    // what for
    [](Scene& s) { s.leaf.extended = "serverAuth"; },
    [](Scene& s) { s.leaf.extended = "clientAuth"; },
    [](Scene& s) { s.leaf.extended = "anyExtendedKeyUsage"; },
    [](Scene& s) { s.leaf.extended = "1.2.3.4"; },
    [](Scene& s) { s.intermediate.extended = "clientAuth"; },
    [](Scene& s) { s.intermediate.extended = "serverAuth,clientAuth"; },
    [](Scene& s) { s.root.extended = "clientAuth"; },
    [](Scene& s) { s.root.unknown_critical = "1.2.3.4.5"; },
    [](Scene& s) { s.intermediate.unknown_critical = "1.2.3.4.5"; },
    [](Scene& s) { s.leaf.unknown_critical = "1.2.3.4.5"; },
    [](Scene& s) { s.root.name_constraints = "critical,permitted;DNS:test"; },
    [](Scene& s) { s.root.name_constraints = "critical,permitted;DNS:other"; },
    [](Scene& s) { s.intermediate.name_constraints = "critical,excluded;DNS:kube.test"; },
    // names
    [](Scene& s) { s.name = "127.0.0.1"; },
    [](Scene& s) { s.name = "127.0.0.2"; },
    [](Scene& s) { s.name = "::ffff:127.0.0.1"; },
    [](Scene& s) { s.name = "KUBE.test"; },
    [](Scene& s) { s.name = "kube.test."; },
    [](Scene& s) { s.name = "other.test"; },
    [](Scene& s) { s.name = ".test"; },
    [](Scene& s) { s.name = "a.kube.test"; },
    [](Scene& s) { s.leaf.names = "DNS:*.test"; },
    [](Scene& s) { s.leaf.names = "DNS:*.kube.test", s.name = "a.kube.test"; },
    [](Scene& s) { s.leaf.names = "DNS:*.kube.test", s.name = "a.b.kube.test"; },
    [](Scene& s) { s.leaf.names = "DNS:k*.test"; },
    [](Scene& s) { s.leaf.names = "DNS:*"; },
    [](Scene& s) { s.leaf.names = "", s.leaf.subject = "kube.test"; },
    [](Scene& s) { s.leaf.names = "email:a@kube.test", s.leaf.subject = "kube.test"; },
});

// As the two readers take it: `{"ca": PEM, "chain": PEM, "name": ...}`.
std::string text_of(const Scene& scene) {
  const std::map<char, std::string> made = {{'r', pem_of(scene.root)},
                                            {'o', pem_of(scene.other)},
                                            {'i', pem_of(scene.intermediate)},
                                            {'s', pem_of(scene.leaf)},
                                            {'c', pem_of(scene.crossed)}};
  std::string bundle = scene.before, chain = made.at('s');
  for (const char which : scene.bundle) bundle += made.at(which);
  for (const char which : scene.sent) chain += made.at(which);
  return json::dump(json::Object{{"ca", bundle}, {"chain", chain}, {"name", scene.name}});
}

}  // namespace

std::vector<std::string> plain_chains() {
  std::vector<std::string> texts = {text_of({})};
  for (const Change change : kChanges) {
    Scene scene;
    change(scene);
    texts.push_back(text_of(scene));
  }
  return texts;
}

std::string varied_chain(Chance& chance) {
  Scene scene;
  for (std::size_t left = 2 + chance.below(2); left > 0; --left) chance.pick(kChanges)(scene);
  return text_of(scene);
}

}  // namespace mnet::readers
