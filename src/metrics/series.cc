#include "metrics/series.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"

namespace mnet::metrics {
namespace {

// Whole numbers without an exponent, as people read counts and times; others in the fewest digits
// that give the same value again.
std::string number_text(double value) {
  constexpr double kExact = 1e15;
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  if (std::trunc(value) == value && std::abs(value) < kExact) {
    return cat(static_cast<std::int64_t>(value));
  }
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return {digits.data(), end};
}

void write_label(std::string& page, std::string_view name, std::string_view value) {
  page += cat(name, "=\"");
  for (const char c : value) {
    if (c == '\n') {
      page += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') page += '\\';
    page += c;
  }
  page += '"';
}

// With `limit` it is the value of a bucket.
void write_line(std::string& page, std::string_view name, const Labels& labels,
                std::string_view limit, std::string_view value) {
  page += name;
  char before = '{';
  for (const auto& [label, text] : labels) {
    page += before;
    write_label(page, label, text);
    before = ',';
  }
  if (!limit.empty()) {
    page += before;
    write_label(page, "le", limit);
    before = ',';
  }
  if (before == ',') page += '}';
  page += cat(" ", value, "\n");
}

}  // namespace

void write_heading(std::string& page, std::string_view name, std::string_view help,
                   std::string_view type) {
  page += cat("# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n");
}

void write_value(std::string& page, std::string_view name, const Labels& labels, double value) {
  write_line(page, name, labels, "", number_text(value));
}

void Numbers::write(std::string& page) const {
  if (values_.empty()) return;
  write_heading(page, name_, help_, type_);
  for (const auto& [labels, value] : values_) write_value(page, name_, labels, value);
}

void Histogram::observe(double value) {
  const auto bucket = std::ranges::lower_bound(limits_, value) - limits_.begin();
  ++counts_[static_cast<std::size_t>(bucket)];
  sum_ += value;
}

void Histogram::write(std::string& page, std::string_view name, const Labels& labels) const {
  const std::string bucket = cat(name, "_bucket");
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    so_far += counts_[i];
    const std::string limit = i < limits_.size() ? number_text(limits_[i]) : "+Inf";
    write_line(page, bucket, labels, limit, cat(so_far));
  }
  write_value(page, cat(name, "_sum"), labels, sum_);
  write_line(page, cat(name, "_count"), labels, "", cat(so_far));
}

void Histograms::write(std::string& page) const {
  if (made_.empty()) return;
  write_heading(page, name_, help_, "histogram");
  for (const auto& [labels, histogram] : made_) histogram.write(page, name_, labels);
}

}  // namespace mnet::metrics
