// What thin_entrypoint does (03, 9.2): puts multus, its kubeconfig and its CNI configuration on the
// node, and keeps the two files current while it runs. Knows nothing of signals.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aio/task.h"
#include "base/result.h"
#include "nodeconf/service_account.h"
#include "sys/directory_watch.h"
#include "thin_entrypoint/options.h"

namespace mnet::thin_entrypoint {

// What surrounds the program; lines come without their newline.
struct Surroundings {
  std::vector<std::string> environment;
  std::string service_account = std::string(nodeconf::kServiceAccountFolder);
  std::function<void(std::string_view)> tell;      // progress
  std::function<void(std::string_view)> complain;  // what is wrong and does not end us
  std::chrono::milliseconds settle{100};           // after an event, until the files are looked at
  std::chrono::milliseconds rest{1000};            // behind a look that had to do something
  std::chrono::milliseconds longest_wait{10'000};  // without any event
};

class Entrypoint {
 public:
  Entrypoint(Options options, Surroundings surroundings);

  // All steps once, in order; nothing is changed before all that must be there is found to be
  // there. Blocks.
  Result<void> set_up();

  // Keeps the files current until cancelled. Whatever is missing or broken meanwhile, the last
  // good files stay, it is said once, and it is looked for again.
  aio::Task<void> follow();

  // What --cleanup-config-on-exit asks for. Blocks.
  Result<void> clean_up();

 private:
  Result<void> check_places() const;
  Result<void> copy_program();
  Result<bool> refresh_kubeconfig();
  Result<void> copy_configuration();
  Result<bool> refresh_configuration();
  Result<bool> write_configuration(const std::string& name, const std::string& text);

  // How a look at the files ended, and so how long the next one may wait.
  enum class Look : std::uint8_t { kAllWell, kWrote, kFailed };
  Look look();
  Look note(const std::string& subject, const Result<bool>& done, const std::string& written);
  std::optional<sys::DirectoryWatch> make_watch();
  aio::Task<void> wait_for_events(sys::DirectoryWatch* watch, std::chrono::milliseconds longest);
  std::vector<std::string> folders() const;
  bool follows_primary() const;
  std::string kubeconfig_path() const;
  std::string conf_path(std::string_view name) const;
  std::string copied_path() const;

  const Options options_;
  const Surroundings surroundings_;
  std::map<std::string, std::string> complaints_;  // the last of each subject
  std::vector<std::string> warnings_;              // of the last configuration
  std::string primary_name_;                       // of the file it was made from
};

}  // namespace mnet::thin_entrypoint
