// How responses look on the wire (03, 2.5).
#pragma once

#include <chrono>
#include <string>

#include "http/http.h"

namespace mnet::http {

// `Sun, 06 Nov 1994 08:49:37 GMT`
std::string http_date(std::chrono::system_clock::time_point time);

// Status line and headers of `response`, blank line included. `keeps`: the client may send another
// request; else it reads that the connection is closed.
std::string response_head(const Response& response, bool to_1_1, bool keeps,
                          std::chrono::system_clock::time_point now);

}  // namespace mnet::http
