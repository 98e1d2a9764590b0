// For tests: a TCP server, plain or TLS, that runs a script on each connection, with blocking calls
// on a thread for each.
#pragma once

#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "http/http.h"
#include "http/test_tls.h"
#include "sys/fd.h"

namespace mnet::http {

struct RawRequest {
  std::string head;  // the lines as received
  std::string body;

  std::string method() const { return head.substr(0, head.find(' ')); }
  std::string target() const {
    const auto begin = head.find(' ') + 1;
    return head.substr(begin, head.find(' ', begin) - begin);
  }
  // Empty if there is none.
  std::string header(const std::string& name) const {
    const auto at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const auto begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
  }
};

// One connection, as its script sees it.
class Peer {
 public:
  Peer(sys::UniqueFd fd, SSL_CTX* tls, int stop) : fd_(std::move(fd)), stop_(stop) {
    if (tls == nullptr) return;
    ssl_ = SSL_new(tls);
    SSL_set_fd(ssl_, fd_.get());
    is_open_ = SSL_accept(ssl_) == 1;
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() {
    if (ssl_ != nullptr) {
      if (is_open_ && is_polite_) SSL_shutdown(ssl_);
      SSL_free(ssl_);
    }
  }

  bool is_open() const { return is_open_; }
  // The common name in the client's certificate; empty if it sent none.
  std::string client_name() const {
    X509* certificate = ssl_ == nullptr ? nullptr : SSL_get0_peer_certificate(ssl_);
    if (certificate == nullptr) return {};
    std::array<char, 256> name{};
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name.data(),
                              name.size());
    return name.data();
  }

  // None when the client has closed or the test ends.
  std::optional<RawRequest> read_request() {
    RawRequest out;
    std::size_t end = std::string::npos;
    while ((end = unread_.find("\r\n\r\n")) == std::string::npos) {
      if (!fill()) return std::nullopt;
    }
    out.head = unread_.substr(0, end + 4);
    unread_.erase(0, end + 4);
    const std::string length = out.header("Content-Length");
    const std::size_t wanted = length.empty() ? 0 : std::stoul(length);
    while (unread_.size() < wanted) {
      if (!fill()) return std::nullopt;
    }
    out.body = unread_.substr(0, wanted);
    unread_.erase(0, wanted);
    return out;
  }

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const long count = ssl_ != nullptr
                             ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                             : ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void answer(int status, std::string_view body, std::string_view more_headers = {}) {
    std::string text = "HTTP/1.1 " + std::to_string(status) + " X\r\n";
    text += more_headers;
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n";
    text += body;
    send(text);
  }
  void begin_chunks() { send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"); }
  void chunk(std::string_view bytes) {
    std::array<char, 20> size;
    const int length = std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
    send(std::string(size.data(), static_cast<std::size_t>(length)) + std::string(bytes) + "\r\n");
  }
  void end_chunks() { send("0\r\n\r\n"); }

  // Ends the connection now, without close_notify.
  void hang_up() {
    is_polite_ = false;
    is_open_ = false;
    ::shutdown(fd_.get(), SHUT_RDWR);
  }
  // Returns when the client closes or the test ends.
  void wait_for_close() {
    while (fill()) {
    }
  }

 private:
  bool fill() {
    if (!is_open_) return false;
    if (ssl_ == nullptr || SSL_pending(ssl_) == 0) {
      std::array<pollfd, 2> waiting{pollfd{fd_.get(), POLLIN, 0}, pollfd{stop_, POLLIN, 0}};
      ::poll(waiting.data(), waiting.size(), -1);
      if (waiting[1].revents != 0) return false;
    }
    std::array<char, 4096> buffer;
    const long count = ssl_ != nullptr
                           ? SSL_read(ssl_, buffer.data(), static_cast<int>(buffer.size()))
                           : ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (count <= 0) return is_open_ = false;
    unread_.append(buffer.data(), static_cast<std::size_t>(count));
    return true;
  }

  sys::UniqueFd fd_;
  int stop_;
  SSL* ssl_ = nullptr;
  std::string unread_;
  bool is_open_ = true;
  bool is_polite_ = true;
};

class ScriptedServer {
 public:
  using Script = std::function<void(Peer&)>;
  struct Tls {
    Identity identity;
    std::string client_ca = {};  // require certificates of this authority; empty: no
    int newest_version = 0;      // such as TLS1_1_VERSION; 0: any
  };

  explicit ScriptedServer(Script script, const std::optional<Tls>& tls = {},
                          const std::string& address = "127.0.0.1", std::uint16_t port = 0)
      : script_(std::move(script)), tls_(tls ? make_context(*tls) : nullptr) {
    listener_ = *listen_tcp(address, port);
    port_ = *local_port(listener_);
    thread_ = std::thread([this] { accept_all(); });
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  ~ScriptedServer() {
    const std::uint64_t one = 1;
    (void)!::write(stop_.get(), &one, sizeof one);
    thread_.join();
    for (std::thread& thread : connections_) thread.join();
    SSL_CTX_free(tls_);
  }

  std::uint16_t port() const { return port_; }
  std::size_t accepted() const { return accepted_; }

 private:
  static SSL_CTX* make_context(const Tls& tls) {
    SSL_CTX* context = SSL_CTX_new(TLS_server_method());
    SSL_CTX_set_security_level(context, 0);  // old versions need it
    SSL_CTX_set_min_proto_version(context, 0);
    SSL_CTX_set_max_proto_version(context, tls.newest_version);
    BIO* bio = BIO_new_mem_buf(tls.identity.certificate.data(), -1);
    X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
    SSL_CTX_use_certificate(context, certificate);
    X509_free(certificate);
    BIO_free(bio);
    bio = BIO_new_mem_buf(tls.identity.key.data(), -1);
    EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
    SSL_CTX_use_PrivateKey(context, key);
    EVP_PKEY_free(key);
    BIO_free(bio);
    if (tls.client_ca.empty()) return context;
    bio = BIO_new_mem_buf(tls.client_ca.data(), -1);
    certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate);
    X509_free(certificate);
    BIO_free(bio);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    return context;
  }

  void accept_all() {
    for (;;) {
      std::array<pollfd, 2> waiting{pollfd{listener_.get(), POLLIN, 0},
                                    pollfd{stop_.get(), POLLIN, 0}};
      ::poll(waiting.data(), waiting.size(), -1);
      if (waiting[1].revents != 0) return;
      sys::UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!fd) continue;
      ++accepted_;
      connections_.emplace_back([this, raw = fd.release()] {
        Peer peer(sys::UniqueFd(raw), tls_, stop_.get());
        if (peer.is_open()) script_(peer);
      });
    }
  }

  Script script_;
  SSL_CTX* tls_;
  sys::UniqueFd listener_;
  sys::UniqueFd stop_{::eventfd(0, EFD_CLOEXEC)};
  std::uint16_t port_ = 0;
  std::atomic<std::size_t> accepted_ = 0;
  std::list<std::thread> connections_;
  std::thread thread_;
};

}  // namespace mnet::http
