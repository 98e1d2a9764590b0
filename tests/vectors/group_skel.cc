#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/try.h"
#include "cni/error.h"
#include "cni/version.h"
#include "groups.h"
#include "json/json.h"
#include "skel/skel.h"

namespace mnet::vectors {
namespace {

std::vector<std::string> texts_in(const json::Array& items) {
  std::vector<std::string> texts;
  for (const json::Value& item : items) {
    if (const std::string* text = item.as_string()) texts.push_back(*text);
  }
  return texts;
}

// What a plugin run leaves behind.
struct Trace {
  json::Value called;
  json::Object args;
  std::string out, err;
};

json::Object args_object(const skel::CmdArgs& args) {
  return {{"container_id", args.container_id},
          {"netns", args.netns},
          {"ifname", args.ifname},
          {"args", args.args},
          {"path", args.path},
          {"stdin", args.stdin_data}};
}

Result<void> handler_outcome(const json::Value& wanted) {
  const json::Object* object = wanted.as_object();
  if (object == nullptr) return {};
  if (const json::Value* text = object->find("text")) {
    return Error(Errc::kPlugin, *text->as_string());
  }
  MNET_TRY(auto&& error, cni::parse_error_object(wanted));
  return Error::from_object(Errc::kPlugin, std::move(error)).wrap("wrapped");
}

skel::Handler noting(std::string name, const json::Value& outcome, Trace& trace) {
  return [name = std::move(name), &outcome, &trace](const skel::CmdArgs& args) {
    trace.called = name;
    trace.args = args_object(args);
    return handler_outcome(outcome);
  };
}

skel::Front front_of(const json::Object& env, const json::Value& text, Trace& trace) {
  return {.env = [&env](std::string_view name) -> std::optional<std::string> {
            const json::Value* value = env.find(name);
            if (value == nullptr || value->as_string() == nullptr) return std::nullopt;
            return *value->as_string();
          },
          .read_stdin = [&text]() -> Result<std::string> {
            if (text.as_string() == nullptr) return Error(Errc::kIo, "it cannot be read");
            return *text.as_string();
          },
          .write_stdout = [&trace](std::string_view bytes) -> Result<void> {
            trace.out += bytes;
            return {};
          },
          .write_stderr = [&trace](std::string_view bytes) { trace.err += bytes; }};
}

json::Object outcome_of(int exit, const Trace& trace) {
  json::Object outcome;
  const auto printed = json::parse(trace.out);
  if (exit != 0) {
    json::Object error = printed && printed->as_object() ? *printed->as_object() : json::Object();
    if (error.find("details") == nullptr) error.set("details", "");
    outcome.set("error", std::move(error));
    return outcome;
  }
  outcome.set("called", trace.called);
  outcome.set("args", trace.args);
  if (printed) outcome.set("stdout", *printed);
  outcome.set("stderr", trace.err);
  return outcome;
}

Result<json::Object> run_plugin(const json::Object& input) {
  MNET_TRY(auto&& env, object_of(input, "env"));
  MNET_TRY(auto&& text, value_of(input, "stdin"));
  MNET_TRY(auto&& versions, array_of(input, "supported_versions"));
  MNET_TRY(auto&& handlers, array_of(input, "handlers"));
  MNET_TRY(auto&& handler_error, value_of(input, "handler_error"));
  MNET_TRY(auto&& about, text_of(input, "about"));

  Trace trace;
  skel::Plugin plugin{.versions = texts_in(versions), .about = about};
  for (const std::string& name : texts_in(handlers)) {
    skel::Handler handler = noting(name, handler_error, trace);
    if (name == "ADD") plugin.add = handler;
    if (name == "DEL") plugin.del = handler;
    if (name == "CHECK") plugin.check = handler;
    if (name == "GC") plugin.gc = handler;
    if (name == "STATUS") plugin.status = handler;
  }
  const int exit = skel::run(plugin, front_of(env, text, trace));
  return outcome_of(exit, trace);
}

Result<json::Object> version_output(const json::Object& input) {
  MNET_TRY(auto&& text, text_of(input, "stdout"));
  MNET_TRY(auto&& versions, cni::parse_version_reply(text));
  return json::Object{{"supported_versions", versions}};
}

}  // namespace

Group skel_group() {
  return {.name = "skel", .operations = {{"", run_plugin}, {"version-output", version_output}}};
}

}  // namespace mnet::vectors
