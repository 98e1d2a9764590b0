#include "multusctl/node_socket.h"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "aio/run.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "http/http.h"
#include "json/json.h"
#include "multusctl/invocation.h"
#include "sys/file.h"

namespace mnet::multusctl {
namespace {

// On the host, and where the manifests mount the host's /run.
constexpr std::string_view kSockets[] = {"/run/multus/multus.sock", "/host/run/multus/multus.sock"};

Error unreachable(const std::string& socket, const Error& why) {
  return why.with_text(
      cat(why.text(), "; no daemon answers on ", socket,
          ": is multus-daemon running on this node, and are you root? (`kubectl -n "
          "kube-system get pods -l app=multus -o wide`)"));
}

Error refusal(const std::string& socket, const std::string& path, const http::Response& answer) {
  const std::string said = excerpt(trim(answer.body), 1000);
  if (answer.status == 404 && said.empty()) {
    return Error(Errc::kNotFound, cat("the daemon on ", socket, " has no ", path,
                                      ": it is an older version, or another implementation"));
  }
  if (answer.status == 404) return Error(Errc::kNotFound, said);
  if (answer.status == 400) return Error(Errc::kInvalid, said);
  return Error(Errc::kProtocol, cat(socket, " answered ", answer.status, ": ", said));
}

}  // namespace

std::string socket_of(const Invocation& invocation) {
  if (std::string named = invocation.text("socket"); !named.empty()) return named;
  for (const std::string_view path : kSockets) {
    if (sys::exists(std::string(path))) return std::string(path);
  }
  return std::string(kSockets[0]);
}

bool is_about_this_node(const Invocation& invocation) {
  if (invocation.has("this-node") || !invocation.text("socket").empty()) return true;
  for (const std::string_view flag : {"kubeconfig", "context", "namespace", "node"}) {
    if (!invocation.text(flag).empty()) return false;
  }
  return sys::exists(socket_of(invocation));
}

Result<json::Object> ask_daemon(const std::string& socket, Question question) {
  http::ClientRequest request;
  request.method = std::move(question.method);
  request.target = question.path;
  request.body = std::move(question.body);
  const auto answer = aio::run(http::request_unix(
      socket, std::move(request), std::chrono::steady_clock::now() + question.patience));
  if (!answer) return unreachable(socket, answer.error());
  if (answer->status != 200) return refusal(socket, question.path, *answer);
  return json::parse_object(answer->body);
}

}  // namespace mnet::multusctl
