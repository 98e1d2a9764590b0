// A log target that keeps its lines. For tests only.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"

namespace mnet {

// May be written and read by several threads.
class TestLog final : public LogTarget {
 public:
  void write(std::string_view line) override {
    const std::scoped_lock lock(mutex_);
    lines_.emplace_back(line);
  }
  std::vector<std::string> lines() const {
    const std::scoped_lock lock(mutex_);
    return lines_;
  }
  std::string text() const {
    const std::scoped_lock lock(mutex_);
    std::string text;
    for (const std::string& line : lines_) text += line;
    return text;
  }
  bool has(std::string_view piece) const { return text().contains(piece); }
  void clear() {
    const std::scoped_lock lock(mutex_);
    lines_.clear();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

}  // namespace mnet
