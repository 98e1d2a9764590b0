// The examples of docs/lint.md and the mistakes of tests/data/lint are tests; so are the examples
// of all other documents and the manifests, which must have no findings.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "lint/finding.h"
#include "lint/lint.h"
#include "lint/report.h"
#include "lint/text.h"

namespace mnet::lint {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Finding> lint_text(const std::string& name, const std::string& text) {
  return lint({std::make_shared<const File>(File{name, text})}, {});
}

// A fenced block of a document.
struct Block {
  std::string heading, lead;  // the last heading, the last line before it
  std::string kind;           // after the fence
  std::string text;
};

std::vector<Block> blocks_of(const std::string& document) {
  std::vector<Block> blocks;
  std::string heading, lead;
  bool is_open = false;
  for (const std::string_view line : split(document, '\n')) {
    if (is_open && line == "```") {
      is_open = false;
    } else if (is_open) {
      blocks.back().text += cat(line, "\n");
    } else if (line.starts_with("```")) {
      blocks.push_back({heading, lead, std::string(line.substr(3)), ""});
      is_open = true;
    } else if (line.starts_with("## ")) {
      heading = line.substr(3);
    } else if (!trim(line).empty()) {
      lead = line;
    }
  }
  return blocks;
}

std::string file_name(const Block& block) {
  const std::size_t blank = block.kind.find(' ');
  return blank == std::string::npos ? "example.yaml" : block.kind.substr(blank + 1);
}

TEST(LintExamples, ShowEachCodeOnceBadAndOnceGood) {
  std::set<std::string> seen;
  for (const Block& block : blocks_of(read("docs/lint.md"))) {
    if (block.lead != "Bad:" && block.lead != "Good:") continue;
    SCOPED_TRACE(cat(block.heading, " ", block.lead, "\n", block.text));
    const auto findings = lint_text(file_name(block), block.text);
    const bool is_found = std::ranges::any_of(
        findings, [&block](const Finding& finding) { return finding.code == block.heading; });

    if (block.lead == "Bad:") {
      EXPECT_TRUE(is_found) << to_text(findings, false);
      seen.insert(block.heading);
    } else {
      EXPECT_TRUE(findings.empty()) << to_text(findings, false);
    }
  }
  for (const Code& code : all_codes())
    EXPECT_TRUE(seen.contains(std::string(code.code))) << code.code;
  EXPECT_EQ(seen.size(), all_codes().size());
}

// A planted mistake: `=== CODE file: what`, then the text; `@@` stands where it must be found.
TEST(LintExamples, FindAllPlantedMistakesAtTheirPlaces) {
  const std::string all = cat("\n", read("tests/data/lint/mistakes.txt"));
  std::size_t planted = 0;
  for (std::size_t at = all.find("\n=== "); at != std::string::npos;) {
    const std::size_t next = all.find("\n=== ", at + 1);
    const std::string part = all.substr(at + 5, next == std::string::npos ? next : next - at - 4);
    at = next;
    const std::size_t line_end = part.find('\n');
    const std::string code = part.substr(0, 5);
    const std::string file = part.substr(6, part.find(':') - 6);
    std::string text = part.substr(line_end + 1);
    const std::size_t mark = text.find("@@");
    text.erase(mark, 2);
    const std::string before = text.substr(0, mark);
    const auto line = 1 + std::ranges::count(before, '\n');
    const auto column = mark - (before.rfind('\n') + 1) + 1;
    ++planted;

    const auto findings = lint_text(file, text);

    const bool is_found = std::ranges::any_of(findings, [&](const Finding& finding) {
      return finding.code == code && finding.spot.line == line &&
             static_cast<std::size_t>(finding.spot.column) == column;
    });
    EXPECT_TRUE(is_found) << part.substr(0, line_end) << ": wanted at " << line << ":" << column
                          << ", found:\n"
                          << to_text(findings, false) << text;
  }
  EXPECT_GE(planted, 60u);
}

TEST(LintExamples, FindNothingInTheManifests) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("deploy")) {
    const std::string ending = entry.path().extension();
    if (ending != ".yml" && ending != ".yaml") continue;
    if (entry.path().parent_path().filename() == "templates") continue;  // Helm's, not YAML
    ++files;
    const auto findings = lint_text(entry.path(), read(entry.path()));
    EXPECT_TRUE(findings.empty()) << to_text(findings, false);
  }
  EXPECT_GT(files, 0u);
}

TEST(LintExamples, FindNothingInTheExamplesOfTheDocuments) {
  std::size_t examples = 0;
  for (const auto& entry : std::filesystem::directory_iterator("docs")) {
    if (entry.path().extension() != ".md" || entry.path().filename() == "lint.md") continue;
    for (const Block& block : blocks_of(read(entry.path()))) {
      if (!block.text.contains("NetworkAttachmentDefinition") &&
          !block.text.contains("k8s.v1.cni.cncf.io/networks")) {
        continue;
      }
      if (!block.kind.starts_with("yaml") && !block.kind.starts_with("json")) continue;
      ++examples;
      const auto findings = lint_text(entry.path(), block.text);
      EXPECT_TRUE(findings.empty()) << to_text(findings, false) << block.text;
    }
  }
  EXPECT_GT(examples, 0u);
}

}  // namespace
}  // namespace mnet::lint
