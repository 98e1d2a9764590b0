#include "nodetools/diff_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace mnet::nodetools {
namespace {

constexpr std::size_t kContext = 3;
// Beyond this the parts that differ are shown as replaced in one piece.
constexpr std::size_t kMaxCells = 4'000'000;

using Lines = std::vector<std::string_view>;  // each with its newline; the last may have none

Lines lines_of(std::string_view text) {
  Lines out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
    out.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return out;
}

enum class Kind : std::uint8_t { kSame, kRemoved, kAdded };
struct Edit {
  Kind kind;
  std::string_view line;
};

// The longest common subsequence of both, as edits: of several equally short ones that which
// removes first.
void append_middle(std::vector<Edit>& out, const Lines& a, const Lines& b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::uint32_t> common;  // of the rests from (i, j) on
  if (a.size() * b.size() <= kMaxCells) {
    common.assign((a.size() + 1) * width, 0);
    for (std::size_t i = a.size(); i-- > 0;) {
      for (std::size_t j = b.size(); j-- > 0;) {
        common[i * width + j] =
            a[i] == b[j] ? common[(i + 1) * width + j + 1] + 1
                         : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
      }
    }
  }
  std::size_t i = 0, j = 0;
  while (!common.empty() && i < a.size() && j < b.size()) {
    if (a[i] == b[j]) {
      out.push_back({Kind::kSame, a[i++]});
      ++j;
    } else if (common[(i + 1) * width + j] >= common[i * width + j + 1]) {
      out.push_back({Kind::kRemoved, a[i++]});
    } else {
      out.push_back({Kind::kAdded, b[j++]});
    }
  }
  for (; i < a.size(); ++i) out.push_back({Kind::kRemoved, a[i]});
  for (; j < b.size(); ++j) out.push_back({Kind::kAdded, b[j]});
}

std::vector<Edit> edits_between(Lines a, Lines b) {
  std::vector<Edit> out;
  std::size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) {
    out.push_back({Kind::kSame, a[head++]});
  }
  std::size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    ++tail;
  }
  const auto part = [](const Lines& lines, std::size_t begin, std::size_t end) {
    return Lines(lines.begin() + static_cast<std::ptrdiff_t>(begin),
                 lines.begin() + static_cast<std::ptrdiff_t>(end));
  };
  append_middle(out, part(a, head, a.size() - tail), part(b, head, b.size() - tail));
  for (const std::string_view line : part(a, a.size() - tail, a.size())) {
    out.push_back({Kind::kSame, line});
  }
  return out;
}

// `3`, `3,2`, `2,0`: an empty side names the line before it.
std::string range(std::size_t before, std::size_t count) {
  if (count == 1) return cat(before + 1);
  return cat(count == 0 ? before : before + 1, ",", count);
}

class Writer {
 public:
  explicit Writer(const std::vector<Edit>& edits) : edits_(edits) {}

  std::string write() {
    while (at_ < edits_.size()) {
      if (edits_[at_].kind == Kind::kSame) {
        pass(edits_[at_++]);
      } else {
        write_hunk();
      }
    }
    return std::move(out_);
  }

 private:
  void pass(const Edit& edit) {
    old_ += edit.kind != Kind::kAdded ? 1 : 0;
    new_ += edit.kind != Kind::kRemoved ? 1 : 0;
  }

  // One past the last change that is near enough to the one before it to share its context.
  std::size_t end_of_changes() const {
    std::size_t last = at_;
    for (std::size_t i = at_; i < edits_.size() && i - last <= 2 * kContext + 1; ++i) {
      if (edits_[i].kind != Kind::kSame) last = i;
    }
    return last + 1;
  }

  void write_hunk() {
    const std::size_t lead = std::min(at_, kContext);  // what lies before is the same throughout
    const std::size_t begin = at_ - lead;
    const std::size_t end = std::min(end_of_changes() + kContext, edits_.size());
    const std::size_t old_before = old_ - lead, new_before = new_ - lead;
    std::string body;
    for (std::size_t i = begin; i < end; ++i) append_line(body, edits_[i]);
    for (; at_ < end; ++at_) pass(edits_[at_]);
    out_ += cat("@@ -", range(old_before, old_ - old_before), " +",
                range(new_before, new_ - new_before), " @@\n", body);
  }

  static void append_line(std::string& out, const Edit& edit) {
    out += edit.kind == Kind::kSame ? ' ' : edit.kind == Kind::kRemoved ? '-' : '+';
    out += edit.line;
    if (!edit.line.ends_with('\n')) out += "\n\\ No newline at end of file\n";
  }

  const std::vector<Edit>& edits_;
  std::size_t at_ = 0, old_ = 0, new_ = 0;
  std::string out_;
};

}  // namespace

std::string diff_text(std::string_view before, std::string_view after, std::size_t max_bytes) {
  const auto edits = edits_between(lines_of(before), lines_of(after));
  std::string out = Writer(edits).write();
  if (out.size() <= max_bytes) return out;
  const std::size_t end = out.rfind('\n', max_bytes);
  out.resize(end == std::string::npos ? 0 : end + 1);
  return out + "(diff truncated)\n";
}

}  // namespace mnet::nodetools
