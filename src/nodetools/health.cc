#include "nodetools/health.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "aio/sleep.h"
#include "aio/task.h"
#include "base/error.h"
#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "nodetools/output.h"
#include "sys/fd.h"
#include "sys/file.h"

namespace mnet::nodetools {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kBeat{10};
constexpr std::chrono::seconds kStuck{60};
// One write of this size is what a reader sees, or the one before.
constexpr std::size_t kRecord = 512;

std::string memory_name(std::string_view program) { return cat(program, "-health"); }

std::int64_t seconds_of(Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

std::string link_of(const fs::path& path) {
  std::error_code failed;
  return fs::read_symlink(path, failed).string();
}

// What the processes of our mount namespace, our container, have published under the name.
std::vector<std::string> published(const std::string& name) {
  const std::string ours = link_of("/proc/self/ns/mnt"), wanted = cat("/memfd:", name, " ");
  std::vector<std::string> out;
  std::error_code failed;
  for (const auto& process : fs::directory_iterator("/proc", failed)) {
    const fs::path& folder = process.path();
    if (folder.filename().string().find_first_not_of("0123456789") != std::string::npos) continue;
    if (link_of(folder / "ns/mnt") != ours) continue;
    std::error_code gone;
    for (const auto& descriptor : fs::directory_iterator(folder / "fd", gone)) {
      if (!link_of(descriptor.path()).starts_with(wanted)) continue;
      if (auto text = sys::read_file(descriptor.path().string(), kRecord)) {
        out.push_back(*std::move(text));
      }
    }
  }
  return out;
}

}  // namespace

Health::Health(std::string_view program)
    : memory_(::memfd_create(memory_name(program).c_str(), MFD_CLOEXEC)) {
  publish();
}

void Health::set(bool is_ready, std::string_view why) {
  is_ready_ = is_ready;
  why_ = why;
  publish();
}

void Health::publish() const {
  if (!memory_) return;
  std::string record = cat(seconds_of(Clock::now()), is_ready_ ? " ready " : " waiting ",
                           std::string_view(why_).substr(0, kRecord - 64));
  std::ranges::replace(record, '\n', ' ');
  record.resize(kRecord, '\n');
  (void)!::pwrite(memory_.get(), record.data(), record.size(), 0);
}

aio::Task<void> Health::beat() {
  for (;;) {
    publish();
    MNET_CO_TRY_VOID(co_await aio::sleep_for(kBeat));
  }
}

Result<PublishedHealth> parse_health(std::string_view text, Clock::time_point now) {
  std::int64_t when = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), when);
  if (read.ec != std::errc() || when < 0) return Error(Errc::kProtocol, "not a health record");
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  text = trim(text);
  const std::string_view state = text.substr(0, text.find(' '));
  if (state != "ready" && state != "waiting") return Error(Errc::kProtocol, "not a health record");
  return PublishedHealth{.is_ready = state == "ready",
                         .age = std::chrono::seconds(seconds_of(now) - when),
                         .why = std::string(trim(text.substr(state.size())))};
}

int check_health(std::string_view program, Output& output) {
  const auto records = published(memory_name(program));
  bool is_good = !records.empty();
  if (records.empty()) output.complain("health", cat("no ", program, " runs here"));
  for (const std::string& record : records) {
    const auto health = parse_health(record, Clock::now());
    if (health && health->is_ready && health->age < kStuck) continue;
    is_good = false;
    output.complain("health", !health                 ? health.error().text()
                              : health->age >= kStuck ? cat("stuck for ", health->age.count(), " s")
                                                      : health->why);
  }
  if (is_good) output.print("ready");
  return is_good ? 0 : 1;
}

}  // namespace mnet::nodetools
