// Counters, gauges and histograms by their labels, and the text format of Prometheus. Internal to
// metrics: names, help texts and names of labels are ours, values of labels may hold anything.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mnet::metrics {

using Labels = std::map<std::string, std::string>;

// What is added to a page: the two lines that introduce a family, and one value of it.
void write_heading(std::string& page, std::string_view name, std::string_view help,
                   std::string_view type);
void write_value(std::string& page, std::string_view name, const Labels& labels, double value);

// The counters, or the gauges, of one name.
class Numbers {
 public:
  // `type` is `counter` or `gauge`. All three texts must outlive it.
  Numbers(std::string_view type, std::string_view name, std::string_view help)
      : type_(type), name_(name), help_(help) {}

  // 0 at first, and shown from then on. The reference stays valid.
  double& at(const Labels& labels = {}) { return values_[labels]; }

  // Nothing as long as there is no value: it would be a help text without a series.
  void write(std::string& page) const;

 private:
  std::string_view type_, name_, help_;
  std::map<Labels, double> values_;
};

class Histogram {
 public:
  // `limits` ascend; each belongs to the bucket below it. They must outlive the histogram.
  explicit Histogram(std::span<const double> limits)
      : limits_(limits), counts_(limits.size() + 1) {}

  void observe(double value);
  void write(std::string& page, std::string_view name, const Labels& labels) const;

 private:
  std::span<const double> limits_;
  std::vector<std::uint64_t> counts_;  // of each bucket alone; the last is for all above
  double sum_ = 0;
};

// The histograms of one name.
class Histograms {
 public:
  // The texts and the limits must outlive it.
  Histograms(std::string_view name, std::string_view help, std::span<const double> limits)
      : name_(name), help_(help), limits_(limits) {}

  // The reference stays valid.
  Histogram& at(const Labels& labels) { return made_.try_emplace(labels, limits_).first->second; }

  void write(std::string& page) const;

 private:
  std::string_view name_, help_;
  std::span<const double> limits_;
  std::map<Labels, Histogram> made_;
};

}  // namespace mnet::metrics
