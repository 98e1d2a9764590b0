#include "lint/lint.h"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "json/json.h"
#include "lint/finding.h"
#include "lint/objects.h"
#include "lint/rules.h"
#include "lint/text.h"

namespace mnet::lint {
namespace {

void parse_configs(Objects& objects) {
  for (Definition& definition : objects.definitions) {
    if (!definition.config) continue;
    auto parsed = json::parse_unambiguous(definition.config->text());
    if (parsed && parsed->as_object() != nullptr)
      definition.parsed = std::move(*parsed->as_object());
  }
}

// A file that is named twice, or a fault that two rules find, is reported once.
void sort_and_unite(std::vector<Finding>& findings) {
  const auto order = [](const Finding& finding) {
    return std::tie(finding.spot.file, finding.spot.line, finding.spot.column, finding.code,
                    finding.object, finding.text);
  };
  std::ranges::sort(findings, {}, order);
  const auto repeated = std::ranges::unique(findings, {}, order);
  findings.erase(repeated.begin(), repeated.end());
}

}  // namespace

std::vector<Finding> lint(const std::vector<FilePtr>& files, const Options& options) {
  std::vector<Finding> findings;
  Objects objects;
  for (const FilePtr& file : files) read_file(file, options.ns, objects, findings);
  parse_configs(objects);
  Known known{.options = options, .objects = objects, .conf = daemon_conf(objects)};
  for (const Definition& definition : objects.definitions) {
    known.definitions.emplace(definition.key(), &definition);
  }
  for (const auto& definition : objects.definitions) check_definition(definition, known, findings);
  for (const PodTemplate& pod : objects.pods) check_pod(pod, known, findings);
  for (const VirtualMachine& machine : objects.machines) check_machine(machine, known, findings);
  for (const Configuration& configuration : objects.configurations) {
    if (configuration.kind != ConfigKind::kCni) continue;
    check_cni_configuration(configuration, known, findings);
  }
  check_daemon_configurations(objects, findings);
  check_together(known, findings);
  sort_and_unite(findings);
  return findings;
}

}  // namespace mnet::lint
