// Prints as kubectl does: tables with columns as wide as needed, JSON, YAML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/json.h"
#include "multusctl/commands.h"
#include "multusctl/invocation.h"

namespace mnet::multusctl {

// `-o json` or `-o yaml`; yields exit status 0.
int print_value(const json::Value& value, const Invocation& invocation, Surroundings& surroundings);

// JSON text whose characters that do not print (controls, directions of writing) are escaped.
std::string printable_json(std::string_view text);

// Rows of cells; columns are separated by three blanks, and nothing follows the last one. An empty
// cell is `<none>`.
class Table {
 public:
  explicit Table(std::vector<std::string> headers) : headers_(std::move(headers)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  std::string text(bool with_headers) const;

 private:
  std::vector<std::string> headers_;
  std::vector<std::vector<std::string>> rows_;
};

// The exit status of a command: its own, or 1 and a complaint.
int exit_status(const Result<int>& done, const Invocation& invocation, Surroundings& surroundings);

// Whether to print in colour: on a terminal, unless NO_COLOR is set (no-color.org) or TERM is dumb.
bool wants_colour(const Surroundings& surroundings);

}  // namespace mnet::multusctl
