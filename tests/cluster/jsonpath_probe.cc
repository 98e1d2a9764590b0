// jsonpath-probe TEMPLATE...: what each template makes of the object on stdin, as a list of
// `{"text": ...}` and `{"error": ...}`. To be compared with kubectl.

#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

#include "base/command_line.h"
#include "json/json.h"
#include "jsonpath/jsonpath.h"
#include "sys/file.h"

namespace {

using namespace mnet;

json::Value outcome(const json::Value& object, const std::string& text) {
  const auto path = jsonpath::JsonPath::parse(text);
  if (!path) return json::Object{{"error", path.error().text()}};
  const auto result = path->evaluate(object);
  if (!result) return json::Object{{"error", result.error().text()}};
  return json::Object{{"text", *result}};
}

}  // namespace

int main(int argc, char** argv) {
  const auto input = sys::read_all(STDIN_FILENO, "stdin");
  if (!input) return 1;
  const auto object = json::parse(*input);
  if (!object) return 1;
  json::Array outcomes;
  for (const std::string& text : words_of(argc, argv)) outcomes.push_back(outcome(*object, text));
  const std::string printed = json::dump(outcomes);
  std::fwrite(printed.data(), 1, printed.size(), stdout);
  return 0;
}
