#include "multusctl/print.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "base/text.h"
#include "json/json.h"
#include "multusctl/commands.h"
#include "multusctl/invocation.h"
#include "sys/environment.h"
#include "yaml/yaml.h"

namespace mnet::multusctl {
namespace {

std::string shown(const std::string& cell) { return cell.empty() ? "<none>" : cell; }

}  // namespace

int print_value(const json::Value& value, const Invocation& invocation,
                Surroundings& surroundings) {
  surroundings.output.print(invocation.text("output") == "yaml"
                                ? yaml::dump(value)
                                : json::dump(value, {.indent = 4, .escape_html = false}) + "\n");
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

bool wants_colour(const Surroundings& surroundings) {
  return surroundings.is_terminal && sys::variable(surroundings.environment, "NO_COLOR").empty() &&
         sys::variable(surroundings.environment, "TERM") != "dumb";
}

}  // namespace mnet::multusctl
