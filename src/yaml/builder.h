// Makes values from yaml-cpp's events and counts them: aliases are expanded, and a few lines of
// aliases can stand for billions of nodes. Internal.
#pragma once

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/mark.h>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "json/json.h"
#include "yaml/yaml.h"

namespace mnet::yaml {

// `line 3, column 7: why`
Error error_at(const YAML::Mark& mark, std::string_view why);

// Builds all documents of a text. The first error is kept; all later events are ignored.
class Builder final : public YAML::EventHandler {
 public:
  explicit Builder(Limits limits) : limits_(limits) {}

  // To be asked after each document: false if reading must stop because of an error.
  bool may_go_on() const { return !error_; }
  Result<std::vector<Document>> take();

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override;
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override;
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override;
  void OnSequenceEnd() override;
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override;
  void OnMapEnd() override;

 private:
  // A complete value, and what each alias to it adds to the counts.
  struct Node {
    json::Value value;
    std::optional<std::string> scalar;  // its text, for use as a key
    bool is_merge = false;              // a plain `<<`
    std::size_t count = 1;              // nodes, itself included
    std::size_t bytes = 0;              // of all scalars in it
    int height = 0;                     // of the nesting below it
  };
  // A list or mapping whose end has not been read yet.
  struct Open {
    Node node;
    YAML::Mark mark;  // where it begins
    YAML::anchor_t anchor = 0;
    std::unordered_set<std::string> keys;  // of a mapping
    std::optional<std::string> key;        // whose value comes next
    bool is_merging = false;               // that key is `<<`
    std::vector<json::Value> merged;       // what `<<` named, in order
  };

  void open(const YAML::Mark& mark, json::Value empty, YAML::anchor_t anchor);
  void close();
  void put(const YAML::Mark& mark, Node node, YAML::anchor_t anchor);
  void put_into(Open& parent, const YAML::Mark& mark, Node node);
  void take_key(Open& parent, const YAML::Mark& mark, Node node);
  void take_merged(Open& parent, const YAML::Mark& mark, Node node);
  static void merge(Open& mapping);
  // Counts a node that is about to be added; false if it exceeds the limits, or if there was an
  // error before.
  bool admit(const YAML::Mark& mark, const Node& node);
  void fail(const YAML::Mark& mark, std::string_view why);

  const Limits limits_;
  std::vector<Document> documents_;
  std::optional<Error> error_;
  int last_start_ = -1;  // where the last document began
  int number_ = 0;       // of the current document, from 1
  // Of the current document.
  std::size_t nodes_ = 0;
  std::size_t bytes_ = 0;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchors_;
};

}  // namespace mnet::yaml
