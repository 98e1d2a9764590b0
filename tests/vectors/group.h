// What a group of conformance vectors consists of: one JSON file, one source file beside this
// header.
//
// To answer a group, write group_<name>.cc with one function per operation and a table of them:
//
//   Result<json::Object> convert(const json::Object& input) { … }
//
//   Group cni_result_group() {
//     return {.name = "cni-result-convert", .operations = {{"convert", convert}}};
//   }
//
// declare it in groups.h, add it to groups.cc, and name the source and the libraries it needs in
// CMakeLists.txt.
//
// An operation gets a case's `input`, with ${DIR} and ${SELF_NETNS} replaced and `files` and
// `empty_dirs` laid out in the fresh directory. It yields an object whose members are named as in
// the case's `expect`, or the error that the code under test gave. It never sees the expectation.
// An error with the code kBug is not an answer: it fails the case, even one that expects an error.
// It may yield more members than a case expects (`config` and `config_text`): only those that the
// case names are compared, by the rules of compare.h.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/json.h"

namespace mnet::vectors {

using Operation = std::function<Result<json::Object>(const json::Object& input)>;

struct Group {
  std::string name;                  // of the file, without ".json"
  std::string_view selector = "op";  // the member of `input` that names the operation
  std::map<std::string, Operation> operations = {};  // "" for cases without the selector
  std::set<std::string> unanswered = {};             // operations that no code answers yet: skipped
  // Brings outcome and expectation into one form where the group compares more loosely than by
  // structure; empty: not needed.
  std::function<json::Value(json::Value)> normalise = {};
};

// A member of `input`. Without it the case is broken: an error with the code kBug, which fails the
// case whatever it expects.
Result<json::Value> value_of(const json::Object& input, std::string_view key);
Result<std::string> text_of(const json::Object& input, std::string_view key);
Result<json::Object> object_of(const json::Object& input, std::string_view key);
Result<json::Array> array_of(const json::Object& input, std::string_view key);

}  // namespace mnet::vectors
