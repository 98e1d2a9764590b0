// What a node tool says: progress to stdout, line by line, diagnostics to stderr after the
// program's name. Tests bring their own.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace mnet::nodetools {

// Whatever a text contains of others (watched values, files, a node's answer), no terminal obeys
// it: what does not print is escaped here, but for line ends and tabs.
class Output {
 public:
  virtual ~Output() = default;

  // One or more whole lines of stdout; a newline is added where the last one has none.
  void print(std::string_view text) { write(printable(text)); }
  // The same with colours; the caller has made the foreign text in it printable.
  void print_coloured(std::string_view text) { write(text); }
  // One line of stderr: `<program>: <about>: <reason>`.
  void complain(std::string_view about, std::string_view reason) {
    write_complaint(printable(about), printable(reason));
  }

 private:
  static std::string printable(std::string_view text);
  virtual void write(std::string_view text) = 0;
  virtual void write_complaint(std::string_view about, std::string_view reason) = 0;
};

// Written at once and in one piece, whatever stdout is. A closed stdout is ignored.
class ProcessOutput final : public Output {
 public:
  explicit ProcessOutput(std::string program) : program_(std::move(program)) {}

 private:
  void write(std::string_view text) override;
  void write_complaint(std::string_view about, std::string_view reason) override;

  std::string program_;
};

// For tests: keeps what was said.
class RecordedOutput final : public Output {
 public:
  std::string printed, complaints;

 private:
  void write(std::string_view text) override {
    printed += text;
    if (!text.ends_with('\n')) printed += '\n';
  }
  void write_complaint(std::string_view about, std::string_view reason) override {
    complaints += cat(about, ": ", reason, "\n");
  }
};

// With blanks at the end up to `width` bytes: a cell of a table.
std::string padded(std::string_view text, std::size_t width);

// `### <title> ###`, the body, `###`: how contents are shown (04, 1.11 and 2.6). A line of the body
// that reads like the begin or the end of a block gets a backslash in front.
std::string block(std::string_view title, std::string_view body);

}  // namespace mnet::nodetools
