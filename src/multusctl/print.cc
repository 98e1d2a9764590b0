#include "multusctl/print.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/utf8.h"
#include "json/json.h"
#include "multusctl/commands.h"
#include "multusctl/invocation.h"
#include "sys/environment.h"
#include "yaml/yaml.h"

namespace mnet::multusctl {
namespace {

// Pods and nodes choose the text of cells, so it must not control the terminal.
std::string shown(const std::string& cell) {
  return cell.empty() ? "<none>" : excerpt(cell, kWhole);
}

}  // namespace

// Characters that do not print as \u, which means the same to every reader of JSON: no terminal
// obeys them.
std::string printable_json(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto plain = static_cast<std::size_t>(
        std::ranges::find_if(text, [](char c) { return static_cast<unsigned char>(c) > 0x7E; }) -
        text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const CodePoint c = decode_utf8(text);
    const std::string_view bytes = text.substr(0, c.bytes);
    const std::string shown = excerpt(bytes, kWhole);
    // Of what Go writes as \U or \x, JSON has no such form.
    out += shown == bytes || shown.starts_with("\\u") ? shown : std::string("\\ufffd");
    text.remove_prefix(c.bytes);
  }
  return out;
}

int print_value(const json::Value& value, const Invocation& invocation,
                Surroundings& surroundings) {
  const std::string text = json::dump(value, {.indent = 4, .escape_html = false});
  const std::string printable = printable_json(text);
  // JSON is YAML, too: where a character must be escaped it is the safe form.
  const bool is_yaml = invocation.text("output") == "yaml" && printable == text;
  surroundings.output.print(is_yaml ? yaml::dump(value) : printable + "\n");
  return 0;
}

std::string Table::text(bool with_headers) const {
  std::vector<std::size_t> widths(headers_.size());
  for (std::size_t i = 0; i < headers_.size(); ++i) {
    if (with_headers) widths[i] = headers_[i].size();
    for (const auto& row : rows_) widths[i] = std::max(widths[i], shown(row[i]).size());
  }
  std::string out;
  const auto write = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      std::string cell = shown(cells[i]);
      if (i + 1 < cells.size()) cell.resize(widths[i] + 3, ' ');
      out += cell;
    }
    out += '\n';
  };
  if (with_headers) write(headers_);
  for (const auto& row : rows_) write(row);
  return out;
}

int exit_status(const Result<int>& done, const Invocation& invocation, Surroundings& surroundings) {
  if (done) return *done;
  surroundings.output.complain(invocation.command->name, done.error().text());
  return 1;
}

bool wants_colour(const Surroundings& surroundings) {
  return surroundings.is_terminal && sys::variable(surroundings.environment, "NO_COLOR").empty() &&
         sys::variable(surroundings.environment, "TERM") != "dumb";
}

}  // namespace mnet::multusctl
