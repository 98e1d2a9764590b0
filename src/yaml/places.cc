#include "yaml/places.h"

#include <yaml-cpp/anchor.h>
#include <yaml-cpp/emitterstyle.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <cstddef>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "yaml/builder.h"

namespace mnet::yaml {
namespace {

Mark mark_of(const YAML::Mark& mark) {
  return {mark.line + 1, mark.column + 1, static_cast<std::size_t>(mark.pos)};
}

class Finder final : public YAML::EventHandler {
 public:
  // False once the parser no longer advances (see Builder::OnDocumentStart).
  bool may_go_on() const { return may_go_on_; }
  std::vector<Places> take() { return std::move(documents_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    may_go_on_ = mark.pos != last_start_;
    last_start_ = mark.pos;
    open_.clear();
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { scalar(mark, "null", true); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { scalar(mark, "", false); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    scalar(mark, value, tag != "!" && (value == "null" || value == "~"));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, true);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(mark, false);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    std::string pointer;
    bool is_list = false;
    std::size_t index = 0;
    std::optional<std::pair<std::string, Mark>> key;  // whose value comes next
  };

  void scalar(const YAML::Mark& mark, const std::string& text, bool is_null) {
    if (!open_.empty() && !open_.back().is_list && !open_.back().key) {
      open_.back().key.emplace(text, mark_of(mark));
    } else if (!open_.empty() || !is_null) {
      (void)put(mark);
    }
  }

  void open(const YAML::Mark& mark, bool is_list) {
    std::string pointer = put(mark);
    open_.push_back({.pointer = std::move(pointer), .is_list = is_list, .index = 0, .key = {}});
  }

  void close() { open_.pop_back(); }

  // Yields the pointer of the value that begins here.
  std::string put(const YAML::Mark& mark) {
    Place place{mark_of(mark), mark_of(mark)};
    if (open_.empty()) {
      documents_.emplace_back().emplace("", place);
      return "";
    }
    Open& parent = open_.back();
    std::string pointer = parent.pointer;
    if (parent.is_list) {
      pointer += cat("/", parent.index++);
    } else if (parent.key) {
      place.key = parent.key->second;
      pointer += pointer_step(parent.key->first);
      parent.key.reset();
    }
    documents_.back().emplace(pointer, place);
    return pointer;
  }

  std::vector<Places> documents_;
  std::vector<Open> open_;
  int last_start_ = -1;
  bool may_go_on_ = true;
};

}  // namespace

std::string pointer_step(std::string_view key) {
  std::string step = "/";
  for (const char c : key) {
    if (c == '~' || c == '/') {
      step += c == '~' ? "~0" : "~1";
    } else {
      step += c;
    }
  }
  return step;
}

Place place_of(const Places& places, std::string_view pointer) {
  for (;;) {
    if (const auto found = places.find(pointer); found != places.end()) return found->second;
    if (pointer.empty()) return {};
    pointer = pointer.substr(0, pointer.rfind('/'));
  }
}

Result<std::vector<Places>> find_places(std::string_view text) {
  Finder finder;
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (finder.may_go_on() && parser.HandleNextDocument(finder)) {
    }
  } catch (const YAML::Exception& e) {
    return error_at(e.mark, e.msg);
  }
  return finder.take();
}

}  // namespace mnet::yaml
