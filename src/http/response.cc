#include "http/response.h"

#include <array>
#include <chrono>
#include <ctime>
#include <string>
#include <string_view>

#include "base/text.h"
#include "http/http.h"

namespace mnet::http {
namespace {

std::string_view reason_of(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Request Entity Too Large";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    default:
      return "Status";
  }
}

}  // namespace

const std::string* find_header(const Headers& headers, std::string_view name) {
  for (const auto& [key, value] : headers) {
    if (equal_ignoring_case(key, name)) return &value;
  }
  return nullptr;
}

Response text_response(int status, std::string_view line) {
  Response response;
  response.status = status;
  response.content_type = "text/plain; charset=utf-8";
  response.body = cat(line, '\n');
  response.headers = {{"X-Content-Type-Options", "nosniff"}};
  return response;
}

std::string http_date(std::chrono::system_clock::time_point time) {
  // Not strftime: the names of days and months must not follow a locale.
  constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed",
                                                     "Thu", "Fri", "Sat"};
  constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  const auto two = [](int number) { return cat(number < 10 ? "0" : "", number); };
  return cat(kDays[static_cast<std::size_t>(utc.tm_wday)], ", ", two(utc.tm_mday), " ",
             kMonths[static_cast<std::size_t>(utc.tm_mon)], " ", utc.tm_year + 1900, " ",
             two(utc.tm_hour), ":", two(utc.tm_min), ":", two(utc.tm_sec), " GMT");
}

std::string response_head(const Response& response, bool to_1_1, bool keeps,
                          std::chrono::system_clock::time_point now) {
  std::string head = cat(to_1_1 ? "HTTP/1.1 " : "HTTP/1.0 ", response.status, " ",
                         reason_of(response.status), "\r\nDate: ", http_date(now), "\r\n");
  if (!response.content_type.empty()) head += cat("Content-Type: ", response.content_type, "\r\n");
  for (const auto& [name, value] : response.headers) head += cat(name, ": ", value, "\r\n");
  head += cat("Content-Length: ", response.body.size(),
              "\r\nConnection: ", keeps ? "keep-alive" : "close", "\r\n\r\n");
  return head;
}

}  // namespace mnet::http
