#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "json/json.h"
#include "jsonpath/jsonpath.h"
#include "jsonpath/template.h"

namespace mnet::jsonpath {
namespace {

// Values of the object, or constants of the template: both outlive the evaluation.
using Items = std::vector<const json::Value*>;

Error does_not_fit(std::string text) { return {Errc::kInvalid, std::move(text)}; }

// As the original's messages name it.
std::string_view type_name(const json::Value& value) {
  if (value.as_object() != nullptr) return "map[string]interface {}";
  if (value.as_array() != nullptr) return "[]interface {}";
  if (value.as_string() != nullptr) return "string";
  if (value.as_bool() != nullptr) return "bool";
  return value.as_number()->as_int64() ? "int64" : "float64";
}

// Members in the order of their keys, elements in theirs; nothing of anything else.
Items children_of(const json::Value& value) {
  Items out;
  if (const json::Array* list = value.as_array()) {
    for (const json::Value& element : *list) out.push_back(&element);
  } else if (const json::Object* object = value.as_object()) {
    std::vector<std::pair<std::string_view, const json::Value*>> members;
    for (const auto& [key, member] : *object) members.emplace_back(key, &member);
    std::ranges::sort(members);
    for (const auto& member : members) out.push_back(member.second);
  }
  return out;
}

struct Bounds {
  std::int64_t from, to, step;
};

Result<std::optional<Bounds>> bounds_of(const SliceStep& slice, std::int64_t length) {
  Bounds out{slice.from.value_or(0), slice.to.value_or(length), slice.step.value_or(1)};
  if (slice.is_index) out.to = out.from + 1;
  if (out.from < 0) out.from += length;
  if (out.to < 0 || (out.to == 0 && slice.is_index)) out.to += length;
  if (out.from == out.to) return std::optional<Bounds>();
  const auto beyond = [&](std::int64_t index) {
    return does_not_fit(cat("array index out of bounds: index ", index, ", length ", length));
  };
  if (out.from >= length || out.from < 0) return beyond(out.from);
  if (out.to > length || out.to < 0) return beyond(out.to - 1);
  if (out.from > out.to) {
    return does_not_fit(cat("starting index ", out.from, " is greater than ending index ", out.to));
  }
  if (out.step <= 0) return does_not_fit("step must be > 0");
  return std::optional(out);
}

// Negative, zero or positive; an error where there is no order, or no equality.
Result<int> compare_numbers(const json::Number& a, const json::Number& b) {
  if (a == b) return 0;
  const auto left = a.as_int64(), right = b.as_int64();
  if (left && right) return *left < *right ? -1 : 1;
  return a.as_double() < b.as_double() ? -1 : 1;
}

Result<bool> holds(Comparison comparison, const json::Value& left, const json::Value& right) {
  const auto by_order = [&](int order) {
    switch (comparison) {
      case Comparison::kEqual:
        return order == 0;
      case Comparison::kDifferent:
        return order != 0;
      case Comparison::kLess:
        return order < 0;
      case Comparison::kAtMost:
        return order <= 0;
      case Comparison::kGreater:
        return order > 0;
      default:
        return order >= 0;
    }
  };
  if (left.as_number() != nullptr && right.as_number() != nullptr) {
    MNET_TRY(auto&& order, compare_numbers(*left.as_number(), *right.as_number()));
    return by_order(order);
  }
  if (left.as_string() != nullptr && right.as_string() != nullptr) {
    return by_order(left.as_string()->compare(*right.as_string()));
  }
  const bool is_equality = comparison == Comparison::kEqual || comparison == Comparison::kDifferent;
  const auto is_basic = [](const json::Value& value) {
    return value.as_number() != nullptr || value.as_string() != nullptr ||
           value.as_bool() != nullptr;
  };
  if (left.as_bool() != nullptr && right.as_bool() != nullptr && is_equality) {
    return by_order(*left.as_bool() == *right.as_bool() ? 0 : 1);
  }
  const bool is_incompatible = is_basic(left) && is_basic(right) && left.kind() != right.kind();
  return does_not_fit(is_incompatible ? "incompatible types for comparison"
                                      : "invalid type for comparison");
}

// Templates whose ranges or descents multiply each other would take for ever, and all memory.
constexpr std::size_t kMostItems = 1'000'000;

class Evaluation {
 public:
  // Appends the text of the parts for one current object.
  Result<void> write(const std::vector<Part>& parts, const json::Value& current, std::string& out) {
    for (const Part& part : parts) {
      MNET_TRY(auto&& items, walk({&current}, part.steps));
      if (part.is_range) {
        for (const json::Value* item : items) {
          if (left_ == 0) return does_not_fit("the template finds too much in this object");
          --left_;
          MNET_TRY_VOID(write(part.body, *item, out));
        }
        continue;
      }
      for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0) out += ' ';
        out += jsonpath_text(*items[i]);
      }
    }
    return {};
  }

 private:
  Result<Items> walk(Items items, const Steps& steps) {
    for (const Step& step : steps) {
      MNET_TRY(auto&& next,
               std::visit([&](const auto& what) { return apply(what, items); }, step.what));
      if (left_ == 0) return does_not_fit("the template finds too much in this object");
      items = std::move(next);
    }
    return items;
  }

  // False when no more may be found.
  bool add(Items& out, const json::Value* item) {
    if (left_ == 0) return false;
    --left_;
    out.push_back(item);
    return true;
  }

  void add_all(Items& out, const Items& items) {
    for (const json::Value* item : items) {
      if (!add(out, item)) return;
    }
  }

  void descend(const json::Value& value, Items& out) {
    const Items children = children_of(value);
    const std::string* text = value.as_string();
    if (children.empty() && (text == nullptr || text->empty())) return;
    if (!add(out, &value)) return;
    for (const json::Value* child : children) descend(*child, out);
  }

  // A text stands for itself; a number or boolean stands there for each item.
  static Result<Items> apply(const ConstantStep& step, const Items& items) {
    if (step.value.as_string() != nullptr) return Items{&step.value};
    return Items(items.size(), &step.value);
  }

  static Result<Items> apply(const MemberStep& step, const Items& items) {
    Items out;
    for (const json::Value* item : items) {
      const json::Object* object = item->as_object();
      const json::Value* member = object == nullptr ? nullptr : object->find(step.name);
      if (member != nullptr) out.push_back(member);
    }
    return out;
  }

  Result<Items> apply(const EveryStep&, const Items& items) {
    Items out;
    for (const json::Value* item : items) add_all(out, children_of(*item));
    return out;
  }

  Result<Items> apply(const DescentStep&, const Items& items) {
    Items out;
    for (const json::Value* item : items) descend(*item, out);
    return out;
  }

  Result<Items> apply(const SliceStep& slice, const Items& items) {
    Items out;
    for (const json::Value* item : items) {
      if (item->is_null()) continue;
      const json::Array* list = item->as_array();
      if (list == nullptr) return does_not_fit(cat(type_name(*item), " is not array or slice"));
      MNET_TRY(auto&& bounds, bounds_of(slice, static_cast<std::int64_t>(list->size())));
      if (!bounds) return out;
      for (std::int64_t i = bounds->from; i < bounds->to; i += bounds->step) {
        if (!add(out, &(*list)[static_cast<std::size_t>(i)])) return out;
      }
    }
    return out;
  }

  Result<Items> apply(const UnionStep& step, const Items& items) {
    Items out;
    for (const Steps& part : step.parts) {
      MNET_TRY(auto&& found, walk(items, part));
      add_all(out, found);
    }
    return out;
  }

  Result<Items> apply(const FilterStep& filter, const Items& items) {
    Items out;
    for (const json::Value* item : items) {
      const json::Array* list = item->as_array();
      if (list == nullptr) {
        return does_not_fit(
            cat(jsonpath_text(*item), " is not array or slice and cannot be filtered"));
      }
      for (const json::Value& element : *list) {
        MNET_TRY(auto&& passes, this->passes(filter, element));
        if (passes && !add(out, &element)) return out;
      }
    }
    return out;
  }

  Result<bool> passes(const FilterStep& filter, const json::Value& element) {
    MNET_TRY(auto&& lefts, walk({&element}, filter.left));
    if (filter.comparison == Comparison::kPresent) return !lefts.empty();
    MNET_TRY(auto&& rights, walk({&element}, filter.right));
    if (lefts.empty() || rights.empty()) return false;
    if (lefts.size() > 1 || rights.size() > 1) {
      return does_not_fit("can only compare one element at a time");
    }
    return holds(filter.comparison, *lefts.front(), *rights.front());
  }

  std::size_t left_ = kMostItems;
};

}  // namespace

Result<std::string> JsonPath::evaluate(const json::Value& object) const {
  std::string out;
  MNET_TRY_VOID(Evaluation().write(template_->parts, object, out));
  return out;
}

}  // namespace mnet::jsonpath
