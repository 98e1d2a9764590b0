// The work of thin_entrypoint (03, 9.2): installs multus, its kubeconfig and its CNI configuration
// on the node, and keeps the two files current while it runs. Knows nothing of signals.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "aio/task.h"
#include "base/result.h"
#include "nodeconf/service_account.h"
#include "thin_entrypoint/options.h"

namespace mnet::thin_entrypoint {

// What the entrypoint needs from the program around it. Lines have no newline at the end.
struct Surroundings {
  std::vector<std::string> environment;
  std::string service_account = std::string(nodeconf::kServiceAccountFolder);
  std::function<void(std::string_view)> tell;      // progress
  std::function<void(std::string_view)> complain;  // errors that do not end the program
  std::chrono::milliseconds settle{100};           // from an event until the files are checked
  std::chrono::milliseconds rest{1000};            // after a check that changed something
  std::chrono::milliseconds longest_wait{10'000};  // without any event
};

class Entrypoint {
 public:
  Entrypoint(Options options, Surroundings surroundings);

  // Does all steps once, in order. Changes nothing before it has checked that all that is needed
  // exists. Blocks.
  Result<void> set_up();

  // Keeps the files current until cancelled. If something is missing or broken, the last good files
  // stay, the error is printed once, and the check is repeated.
  aio::Task<void> follow();

  // Does what --cleanup-config-on-exit asks for. Blocks.
  Result<void> clean_up();

 private:
  Result<void> check_places() const;
  Result<void> copy_program();
  Result<bool> refresh_kubeconfig();
  Result<void> copy_configuration();
  Result<bool> refresh_configuration();
  Result<bool> write_configuration(const std::string& name, const std::string& text);

  // How a check of the files ended, and so how long the next one may wait.
  enum class Outcome : std::uint8_t { kAllWell, kWrote, kFailed };
  Outcome check_files();
  Outcome note(const std::string& subject, const Result<bool>& done, const std::string& written);
  std::vector<std::string> folders() const;
  bool follows_primary() const;
  std::string kubeconfig_path() const;
  std::string conf_path(std::string_view name) const;
  std::string copied_path() const;

  const Options options_;
  const Surroundings surroundings_;
  std::map<std::string, std::string> complaints_;  // the last one about each subject
  std::vector<std::string> warnings_;              // of the last configuration
  std::string primary_name_;                       // of the file that it was made from
};

}  // namespace mnet::thin_entrypoint
