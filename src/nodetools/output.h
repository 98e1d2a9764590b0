// What a node tool says: progress to stdout, line by line, diagnostics to stderr after the
// program's name. Tests bring their own.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace mnet::nodetools {

class Output {
 public:
  virtual ~Output() = default;

  // One or more whole lines of stdout; a newline is added where the last one has none.
  virtual void print(std::string_view text) = 0;
  // One line of stderr: `<program>: <about>: <reason>`.
  virtual void complain(std::string_view about, std::string_view reason) = 0;
};

// Written at once and in one piece, whatever stdout is. A closed stdout is ignored.
class ProcessOutput final : public Output {
 public:
  explicit ProcessOutput(std::string program) : program_(std::move(program)) {}
  void print(std::string_view text) override;
  void complain(std::string_view about, std::string_view reason) override;

 private:
  std::string program_;
};

// For tests: keeps what was said.
class RecordedOutput final : public Output {
 public:
  void print(std::string_view text) override {
    printed += text;
    if (!text.ends_with('\n')) printed += '\n';
  }
  void complain(std::string_view about, std::string_view reason) override {
    complaints += cat(about, ": ", reason, "\n");
  }
  std::string printed, complaints;
};

// With blanks at the end up to `width` bytes: a cell of a table.
std::string padded(std::string_view text, std::size_t width);

// `### <title> ###`, the body, `###`: how contents are shown (04, 1.11 and 2.6).
std::string block(std::string_view title, std::string_view body);

}  // namespace mnet::nodetools
