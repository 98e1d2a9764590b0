#include <cstddef>
#include <string>
#include <utility>

#include "aio/task.h"
#include "base/try.h"
#include "http/http.h"
#include "http/origin_client.h"

namespace mnet::http {
namespace {

constexpr std::size_t kMaxResponse = 64u << 20;

}  // namespace

aio::Task<Response> request_once(OriginSettings where, ClientRequest request,
                                 aio::Deadline deadline) {
  OriginClient client(std::move(where), nullptr);
  request.headers.emplace_back("Connection", "close");
  MNET_CO_TRY(const auto& answer, co_await client.open(std::move(request), deadline));
  Response response;
  response.status = answer->status();
  response.headers = answer->headers();
  if (const std::string* type = find_header(response.headers, "Content-Type")) {
    response.content_type = *type;
  }
  MNET_CO_TRY(auto&& body, co_await read_whole(answer.get(), kMaxResponse, deadline));
  response.body = std::move(body);
  co_return response;
}

aio::Task<Response> request_unix(std::string socket_path, ClientRequest request,
                                 aio::Deadline deadline) {
  OriginSettings where;
  where.unix_socket = std::move(socket_path);
  return request_once(std::move(where), std::move(request), deadline);
}

}  // namespace mnet::http
