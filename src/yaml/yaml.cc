#include "yaml/yaml.h"

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "yaml/scalar.h"

namespace mnet::yaml {
namespace {

Error at(const YAML::Mark& mark, std::string_view why) {
  return Error(Errc::kInvalid,
               cat("line ", mark.line + 1, ", column ", mark.column + 1, ": ", why));
}

// Turns one node into a value, counting what it makes: aliases are expanded, and a few lines of
// them can stand for billions of nodes.
class Converter {
 public:
  explicit Converter(Limits limits) : limits_(limits), nodes_left_(limits.nodes) {}

  Result<json::Value> convert(const YAML::Node& node, int depth) {
    if (depth > limits_.depth) return at(node.Mark(), "nested too deeply");
    if (nodes_left_-- == 0) return at(node.Mark(), cat("more than ", limits_.nodes, " nodes"));
    switch (node.Type()) {
      case YAML::NodeType::Map:
        return mapping(node, depth);
      case YAML::NodeType::Sequence:
        return sequence(node, depth);
      case YAML::NodeType::Scalar:
        return scalar(node);
      default:
        return json::Value(nullptr);
    }
  }

 private:
  static Result<json::Value> scalar(const YAML::Node& node) {
    // yaml-cpp tells plain scalars ("?") from quoted and literal ones ("!"); only plain ones have a
    // type.
    const std::string& tag = node.Tag();
    if (tag == "?" || tag.empty()) return value_of_plain(node.Scalar());
    if (tag == "!" || tag == "tag:yaml.org,2002:str") return json::Value(node.Scalar());
    if (tag == "tag:yaml.org,2002:int" || tag == "tag:yaml.org,2002:float" ||
        tag == "tag:yaml.org,2002:bool" || tag == "tag:yaml.org,2002:null") {
      return value_of_plain(node.Scalar());
    }
    return at(node.Mark(), cat("unknown tag ", tag));
  }

  Result<json::Value> sequence(const YAML::Node& node, int depth) {
    json::Array items;
    for (const YAML::Node& item : node) {
      auto value = convert(item, depth + 1);
      if (!value) return std::move(value).error();
      items.push_back(*std::move(value));
    }
    return json::Value(std::move(items));
  }

  Result<json::Value> mapping(const YAML::Node& node, int depth) {
    json::Object object;
    for (const auto& member : node) {
      if (!member.first.IsScalar()) return at(member.first.Mark(), "a key must be a scalar");
      const std::string key = member.first.Scalar();
      if (object.find(key) != nullptr)
        return at(member.first.Mark(), cat("key ", go_quoted(key), " occurs twice"));
      auto value = convert(member.second, depth + 1);
      if (!value) return std::move(value).error();
      object.append(key, *std::move(value));
    }
    return json::Value(std::move(object));
  }

  Limits limits_;
  std::size_t nodes_left_;
};

Result<std::vector<YAML::Node>> load(std::string_view text) {
  // The one place where yaml-cpp's exceptions end.
  try {
    return YAML::LoadAll(std::string(text));
  } catch (const YAML::Exception& e) {
    return at(e.mark, e.msg);
  }
}

}  // namespace

Result<std::vector<Document>> parse_documents(std::string_view text, Limits limits) {
  if (text.size() > limits.bytes)
    return Error(Errc::kInvalid, cat("larger than ", limits.bytes, " bytes"));
  auto nodes = load(text);
  if (!nodes) return std::move(nodes).error();
  std::vector<Document> documents;
  for (const YAML::Node& node : *nodes) {
    if (!node.IsDefined() || node.IsNull()) continue;
    auto value = Converter(limits).convert(node, 0);
    if (!value) return std::move(value).error();
    documents.push_back({*std::move(value), node.Mark().line + 1});
  }
  return documents;
}

}  // namespace mnet::yaml
