#include "behaviour.h"

#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "base/try.h"
#include "json/fields.h"
#include "json/json.h"

namespace mnet::fakes {
namespace {

void keep(const json::Fields& fields, const char* key, std::optional<json::Value>& into) {
  if (const json::Value* value = fields.find(key)) into = *value;
}

Result<Behaviour> read_behaviour(const json::Object& object, std::string path) {
  Behaviour out;
  json::Fields fields(object, std::move(path));
  fields.read("first", out.first);
  keep(fields, "error", out.error);
  keep(fields, "result", out.result);
  fields.read("stdout", out.out);
  fields.read("stderr", out.err);
  fields.read("stdout_bytes", out.out_bytes);
  fields.read("stderr_bytes", out.err_bytes);
  fields.read("exit", out.exit);
  fields.read("signal", out.signal);
  fields.read("delay_ms", out.delay_ms);
  fields.read("gate", out.gate);
  fields.read("hang", out.hang);
  fields.read("ignore_sigterm", out.ignore_sigterm);
  fields.read("allocate_mb", out.allocate_mb);
  fields.read("ignore_stdin", out.ignore_stdin);
  fields.read("answer_first", out.answer_first);
  fields.read("child_seconds", out.child_seconds);
  fields.read("child_until", out.child_until);
  fields.read("child_leaves_group", out.child_leaves_group);
  fields.read("versions", out.versions);
  MNET_TRY_VOID(fields.done());
  return out;
}

}  // namespace

Result<Orders> read_orders(const json::Object& object, const std::string& command) {
  Orders out;
  json::Fields fields(object, "fake");
  fields.read("record", out.record);
  fields.read("record_end", out.record_end);
  fields.object(object.find(command) != nullptr ? command : "*",
                [&out](const json::Object& found, std::string path) -> Result<void> {
                  MNET_TRY(auto&& behaviour, read_behaviour(found, std::move(path)));
                  out.behaviour = std::move(behaviour);
                  return {};
                });
  MNET_TRY_VOID(fields.done());
  return out;
}

}  // namespace mnet::fakes
