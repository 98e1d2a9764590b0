// Gives the same texts to our parsers and to a Go program that reads them with Go's packages and
// the original's structures; each disagreement that is not on purpose is a failure.
//   readers GO_READER [--inputs N] [--seconds N] [--seed N] [KIND...]
// Ends in `N passed, N failed, N skipped`, one for each kind.
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "differences.h"
#include "go_reader.h"
#include "inputs.h"
#include "json/json.h"
#include "our_reading.h"
#include "sys/file.h"

namespace mnet::readers {
namespace {

using Clock = std::chrono::steady_clock;

struct Kind {
  std::string_view name;
  char code;  // for the Go program
  Result<json::Value> (*read)(std::string_view);
};
constexpr std::array kKinds = {
    Kind{"annotation", 'a', &read_networks},
    Kind{"chain", 's', &read_chain},
    Kind{"csr", 'c', &read_approved_request},
    Kind{"delegate", 'd', &read_delegate},
    Kind{"json", 'j', &read_any},
    Kind{"daemon", 'm', &read_daemon_config},
    Kind{"netconf", 'n', &read_netconf},
    Kind{"result", 'r', &read_result},
};

struct Options {
  std::string go_reader;
  std::size_t inputs = 1500;        // of each kind
  std::chrono::seconds time{3600};  // for each kind
  std::uint64_t seed = 1;
  std::vector<std::string> kinds = {};  // empty: all
};

// tests/readers/seeds/<kind>/, in the order of their names.
std::vector<std::string> seeds_of(const Kind& kind) {
  if (kind.code == 's') return plain_chains();
  std::vector<std::string> seeds;
  const auto folder = std::filesystem::path("tests/readers/seeds") / kind.name;
  std::error_code ignored;
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(folder, ignored))
    files.push_back(file);
  std::ranges::sort(files);
  for (const auto& file : files) {
    if (auto text = sys::read_file(file)) seeds.push_back(*std::move(text));
  }
  return seeds;
}

std::string another_text(const Kind& kind, const std::vector<std::string>& seeds, Chance& chance) {
  if (kind.code == 'c') return varied_request(chance);
  if (kind.code == 's') return varied_chain(chance);
  return varied_text(chance.pick(seeds), chance);
}

// The texts of one kind, compared one after the other.
class Comparison {
 public:
  Comparison(const Kind& kind, GoReader& go) : kind_(kind), go_(go) {}

  Result<void> run(const Options& options) {
    const auto seeds = seeds_of(kind_);
    if (seeds.empty()) return Error(Errc::kNotFound, cat("no seeds for ", kind_.name));
    const auto end = Clock::now() + options.time;
    for (const std::string& seed : seeds) {
      if (auto compared = compare(seed); !compared) return compared;
    }
    for (std::size_t i = 0; i < options.inputs && Clock::now() < end; ++i) {
      Chance chance(options.seed * 1'000'003 + i);
      if (auto compared = compare(another_text(kind_, seeds, chance)); !compared) return compared;
    }
    return {};
  }

  // A run in which we accept hardly anything would prove nothing.
  bool is_sound() const { return found_.empty() && accepted_ * 50 >= compared_; }

  void report() const {
    std::printf("%s: %zu texts, %zu of them accepted by us, %zu disagreements\n",
                std::string(kind_.name).c_str(), compared_, accepted_, found_.size());
    for (const auto& [why, text] : found_) std::printf("  %s\n%s", why.c_str(), text.c_str());
  }

 private:
  struct Outcome {
    std::optional<std::string> why;  // they disagree
    bool is_accepted = false;        // by us
    std::string ours, theirs;
  };

  Result<Outcome> look_at(std::string_view text) {
    const auto ours = kind_.read(text);
    auto theirs = go_.read(kind_.code, text);
    if (!theirs) return std::move(theirs).error();
    return Outcome{.why = disagreement(kind_.code, ours, *theirs),
                   .is_accepted = ours.has_value(),
                   .ours = ours ? json::dump(*ours, json::kSorted) : std::string(),
                   .theirs = theirs->text};
  }

  Result<void> compare(const std::string& text) {
    auto outcome = look_at(text);
    if (!outcome) return std::move(outcome).error();
    ++compared_;
    accepted_ += outcome->is_accepted ? 1 : 0;
    if (!outcome->why || found_.contains(*outcome->why)) return {};
    return keep(text, *std::move(outcome->why));
  }

  // The shortest text that shows it, found by leaving out pieces.
  Result<void> keep(std::string text, const std::string& why) {
    for (std::size_t size = text.size() / 2; size > 0; size /= 2) {
      for (std::size_t at = 0; at + size <= text.size();) {
        std::string shorter = text;
        shorter.erase(at, size);
        auto outcome = look_at(shorter);
        if (!outcome) return std::move(outcome).error();
        if (outcome->why == why) {
          text = std::move(shorter);
        } else {
          at += size;
        }
      }
    }
    auto outcome = look_at(text);
    if (!outcome) return std::move(outcome).error();
    std::string shown = cat("    ", go_quoted(text, kWhole), "\n");
    if (outcome->is_accepted) {
      shown += cat("    ours:   ", outcome->ours, "\n    theirs: ", outcome->theirs, "\n");
    }
    found_.emplace(why, std::move(shown));
    return {};
  }

  const Kind& kind_;
  GoReader& go_;
  std::size_t compared_ = 0, accepted_ = 0;
  std::map<std::string, std::string> found_;  // why, and a text that shows it
};

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<Options> parse_options(const std::vector<std::string>& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) {
      (options.go_reader.empty() ? options.go_reader : options.kinds.emplace_back()) = words[i];
      continue;
    }
    const auto number = i + 1 < words.size() ? number_of(words[i + 1]) : std::nullopt;
    if (!number) return std::nullopt;
    if (words[i] == "--inputs") {
      options.inputs = *number;
    } else if (words[i] == "--seconds") {
      options.time = std::chrono::seconds(*number);
      options.inputs = SIZE_MAX;
    } else if (words[i] == "--seed") {
      options.seed = *number;
    } else {
      return std::nullopt;
    }
    ++i;
  }
  if (options.go_reader.empty()) return std::nullopt;
  return options;
}

int run(const Options& options) {
  auto go = GoReader::start(options.go_reader);
  if (!go) {
    std::fprintf(stderr, "%s\n", go.error().text().c_str());
    return 2;
  }
  int passed = 0, failed = 0;
  for (const Kind& kind : kKinds) {
    if (!options.kinds.empty() &&
        std::ranges::find(options.kinds, kind.name) == options.kinds.end()) {
      continue;
    }
    Comparison comparison(kind, *go);
    if (auto ran = comparison.run(options); !ran) {
      std::printf("%s: %s\n", std::string(kind.name).c_str(), ran.error().text().c_str());
      ++failed;
      continue;
    }
    comparison.report();
    ++(comparison.is_sound() ? passed : failed);
  }
  std::printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed == 0 && passed > 0 ? 0 : 1;
}

}  // namespace
}  // namespace mnet::readers

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto options = mnet::readers::parse_options({argv + 1, argv + argc});
  if (!options) {
    std::fprintf(stderr,
                 "usage: readers GO_READER [--inputs N] [--seconds N] [--seed N] [KIND...]\n");
    return 2;
  }
  return mnet::readers::run(*options);
}
