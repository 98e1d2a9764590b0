#include "plugin/failure.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "cni/error.h"
#include "cni/result.h"
#include "json/count.h"
#include "json/json.h"

namespace mnet::plugin {
namespace {

// How much of a plugin's output goes into an error, which passes through several programs and logs.
constexpr std::size_t kMostQuoted = 16u << 10;

// The end of an output usually says why the plugin failed.
std::string quoted_end(std::string_view text) {
  if (text.size() <= kMostQuoted) return go_quoted(text, kWhole);
  return cat("...", go_quoted(text.substr(text.size() - kMostQuoted), kWhole));
}

// The beginning of an output shows what the plugin meant to print.
std::string quoted_beginning(std::string_view text) {
  if (text.size() <= kMostQuoted) return go_quoted(text, kWhole);
  return cat(go_quoted(text.substr(0, kMostQuoted), kWhole), "...");
}

std::string without_words(const Ending& ending, std::string_view err) {
  if (err.empty()) return cat("netplugin failed with no error message: ", ending.how);
  return cat("netplugin failed: ", quoted_end(err), ": ", ending.how);
}

// Counted first, as a result is: it may be made of what a network's author wrote.
Result<ErrorObject> read_object(std::string_view out) {
  if (const std::size_t values = json::count(out).values; values > cni::kMaxResultValues) {
    return Error(Errc::kInvalid, cat(values, " values, more than ", cni::kMaxResultValues));
  }
  MNET_TRY(auto&& document, json::parse(out));
  return cni::parse_error_object(document);
}

}  // namespace

Error failure(Errc code, const Ending& ending, std::string_view out, std::string_view err) {
  if (out.empty()) {
    return Error::from_object(code, {0, without_words(ending, err), ending.details});
  }
  auto object = read_object(out);
  if (!object) {
    std::string msg = cat("netplugin failed but error parsing its diagnostic message ",
                          quoted_beginning(out), ": ", object.error().text());
    return Error::from_object(code, {0, std::move(msg), ending.details});
  }
  if (object->msg.empty()) {  // a result, say, that was printed before the plugin was killed
    object->msg = without_words(ending, err);
    if (object->details.empty()) object->details = ending.details;
  }
  return Error::from_object(code, *std::move(object));
}

}  // namespace mnet::plugin
