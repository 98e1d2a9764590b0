#include "cni_node/objects.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/at.h"
#include "json/fields.h"
#include "json/json.h"
#include "yaml/yaml.h"

namespace mnet::cni_node {
namespace {

constexpr std::size_t kMaxManifest = 16u << 20;

Error in_document(int number, const Error& why) { return why.wrap(cat("document ", number)); }

bool is_separator(std::string_view line) {
  if (!line.starts_with("---")) return false;
  return line.size() == 3 || line[3] == ' ' || line[3] == '\t' || line[3] == '\r';
}

// The text of each document, `---` lines included where something follows them.
std::vector<std::string> split_documents(std::string_view text) {
  std::vector<std::string> out(1);
  bool is_first_line = true;
  for (const std::string_view line : split(text, '\n')) {
    if (is_separator(line)) {
      // What stands before the first separator is not a document if it is nothing but blanks.
      if (!is_first_line && !(out.size() == 1 && trim(out[0]).empty())) out.emplace_back();
      out.back() = cat(line, "\n");
    } else {
      out.back() += cat(line, "\n");
    }
    is_first_line = false;
  }
  return out;
}

// Where the JSON object ends that `text` begins with; npos if it does not end.
std::size_t end_of_json(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char byte = text[i];
    if (in_string) {
      if (byte == '\\') ++i;
      if (byte == '"') in_string = false;
    } else if (byte == '"') {
      in_string = true;
    } else if (byte == '{' || byte == '[') {
      ++depth;
    } else if (byte == '}' || byte == ']') {
      if (--depth == 0) return i + 1;
    }
  }
  return std::string_view::npos;
}

// JSON is YAML but for pairs of surrogates, which yaml-cpp does not know; a key that occurs twice
// is an error in both.
Result<std::vector<json::Value>> parse_values(const std::string& text, bool may_be_json) {
  std::vector<json::Value> out;
  auto documents = yaml::parse_documents(text, {.bytes = kMaxManifest});
  if (documents) {
    for (yaml::Document& document : *documents) out.push_back(std::move(document.value));
    return out;
  }
  if (may_be_json && documents.error().code() != Errc::kConflict) {
    if (auto value = json::parse(text)) {
      out.push_back(*std::move(value));
      return out;
    }
  }
  return std::move(documents).error();
}

// One document, or as many as there are JSON objects in it, back to back.
Result<std::vector<json::Value>> values_of(const std::string& document) {
  std::string_view rest = trim(document);
  if (is_separator(rest)) rest = trim(rest.substr(3));
  std::vector<json::Value> out;
  while (rest.starts_with('{')) {
    const std::size_t end = end_of_json(rest);
    if (end == std::string_view::npos) break;
    auto values = parse_values(std::string(rest.substr(0, end)), true);
    if (!values) {
      // A YAML flow mapping may have quotes of its own kind.
      if (out.empty()) return parse_values(document, false);
      return std::move(values).error();
    }
    for (json::Value& value : *values) out.push_back(std::move(value));
    rest = trim(rest.substr(end));
  }
  if (rest.empty() && !out.empty()) return out;
  return parse_values(document, false);
}

bool is_path_segment(std::string_view text) {
  return text != "." && text != ".." && text.find('/') == std::string_view::npos &&
         text.find('%') == std::string_view::npos;
}

Result<ObjectName> parse_name(const json::Object& object) {
  ObjectName out;
  std::string generated;
  json::Fields fields(object, "", json::Match::kExact);
  fields.read("apiVersion", out.api_version);
  fields.read("kind", out.kind);
  fields.object("metadata", [&](const json::Object& metadata, const std::string& path) {
    json::Fields inner(metadata, path, json::Match::kExact);
    inner.read("name", out.name);
    inner.read("namespace", out.ns);
    inner.read("generateName", generated);
    return inner.done();
  });
  if (out.api_version.empty()) fields.fail("apiVersion", "missing");
  if (out.kind.empty()) fields.fail("kind", "missing");
  if (out.name.empty()) {
    fields.fail("metadata.name", generated.empty() ? "missing"
                                                   : "missing: an object with only generateName "
                                                     "would be created anew each time");
  }
  if (!is_path_segment(out.name)) fields.fail("metadata.name", "not a name");
  if (!is_path_segment(out.ns)) fields.fail("metadata.namespace", "not a name");
  MNET_TRY_VOID(fields.done());
  return out;
}

const json::Array* items_of_list(const json::Object& object) {
  if (!json::text_at(object, {"kind"}).ends_with("List")) return nullptr;
  return json::as_array(object.find("items"));
}

Result<void> append(std::vector<ManifestObject>& out, json::Value value, int document) {
  const json::Object* object = value.as_object();
  if (object == nullptr) {
    return in_document(document, Error(Errc::kInvalid, cat("not an object but ", value.kind())));
  }
  if (const json::Array* items = items_of_list(*object)) {
    for (const json::Value& item : *items) {
      MNET_TRY_VOID(append(out, item, document));
    }
    return {};
  }
  auto id = parse_name(*object);
  if (!id) return in_document(document, id.error());
  out.push_back({.id = *std::move(id), .document = document, .object = *object});
  return {};
}

}  // namespace

Result<std::vector<ManifestObject>> parse_manifest(std::string_view text) {
  if (text.size() > kMaxManifest) {
    return Error(Errc::kInvalid, cat("larger than ", kMaxManifest, " bytes"));
  }
  std::vector<ManifestObject> out;
  int number = 0;
  for (const std::string& document : split_documents(text)) {
    ++number;
    auto values = values_of(document);
    if (!values) return in_document(number, values.error());
    for (json::Value& value : *values) {
      if (value.is_null()) continue;
      MNET_TRY_VOID(append(out, std::move(value), number));
    }
  }
  return out;
}

bool may_hold_secret(std::string_view text) {
  return text.find("Secret") != std::string_view::npos;
}

}  // namespace mnet::cni_node
