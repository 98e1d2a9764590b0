#include "metrics/process.h"

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/integer.h"
#include "base/text.h"
#include "metrics/series.h"
#include "sys/file.h"

namespace mnet::metrics {
namespace {

std::string read_or_empty(const std::string& path) {
  auto text = sys::read_file(path, 1u << 20);
  return text ? *std::move(text) : std::string();
}

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> out;
  for (const std::string_view word : split(line, ' ')) {
    if (!word.empty()) out.push_back(word);
  }
  return out;
}

// `seconds` of the clock ticks, in hundredths.
std::string seconds_text(std::uint64_t ticks, std::uint64_t offset = 0) {
  const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  const std::uint64_t hundredths = ticks % per_second * 100 / per_second;
  return cat(offset + ticks / per_second, ".", hundredths < 10 ? "0" : "", hundredths);
}

class Page {
 public:
  void add(std::string_view name, std::string_view type, std::string_view help,
           std::string_view value) {
    write_heading(text_, name, help, type);
    text_ += cat(name, " ", value, "\n");
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

std::uint64_t boot_time(const std::string& proc) {
  const std::string stat = read_or_empty(proc + "/stat");
  const std::size_t at = stat.find("\nbtime ");
  if (at == std::string::npos) return 0;
  const std::string_view rest = std::string_view(stat).substr(at + 7);
  return parse_integer<std::uint64_t>(rest.substr(0, rest.find('\n'))).value_or(0);
}

void add_stat(Page& page, const std::string& proc) {
  const std::string stat = read_or_empty(proc + "/self/stat");
  // The name of the program may contain anything; the fields are counted after it.
  const std::size_t end = stat.rfind(')');
  if (end == std::string::npos) return;
  const auto fields = words(trim(std::string_view(stat).substr(end + 1)));
  const auto field = [&](std::size_t index) {  // as numbered in proc(5)
    return index - 3 < fields.size() ? parse_integer<std::uint64_t>(fields[index - 3]).value_or(0)
                                     : 0;
  };
  const auto page_size = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  page.add("process_cpu_seconds_total", "counter",
           "Total user and system CPU time spent in seconds.", seconds_text(field(14) + field(15)));
  page.add("process_start_time_seconds", "gauge",
           "Start time of the process since unix epoch in seconds.",
           seconds_text(field(22), boot_time(proc)));
  page.add("process_virtual_memory_bytes", "gauge", "Virtual memory size in bytes.",
           cat(field(23)));
  page.add("process_resident_memory_bytes", "gauge", "Resident memory size in bytes.",
           cat(field(24) * page_size));
}

void add_open_files(Page& page, const std::string& proc) {
  std::error_code failed;
  std::uint64_t count = 0;
  for (std::filesystem::directory_iterator at(proc + "/self/fd", failed), end; !failed && at != end;
       at.increment(failed)) {
    ++count;
  }
  if (failed) return;
  page.add("process_open_fds", "gauge", "Number of open file descriptors.", cat(count));
}

void add_limits(Page& page, const std::string& proc) {
  const std::string limits = read_or_empty(proc + "/self/limits");
  const auto soft = [&](std::string_view name) -> std::string {
    const std::size_t at = limits.find(name);
    if (at == std::string::npos) return "";
    const std::string_view rest = std::string_view(limits).substr(at + name.size());
    const auto columns = words(rest.substr(0, rest.find('\n')));
    if (columns.empty()) return "";
    // "unlimited" is the largest number there is.
    return columns[0] == "unlimited" ? "1.8446744073709552e+19" : std::string(columns[0]);
  };
  if (const std::string files = soft("Max open files"); !files.empty()) {
    page.add("process_max_fds", "gauge", "Maximum number of open file descriptors.", files);
  }
  if (const std::string memory = soft("Max address space"); !memory.empty()) {
    page.add("process_virtual_memory_max_bytes", "gauge",
             "Maximum amount of virtual memory available in bytes.", memory);
  }
}

// One line of names, the next of values, both headed `IpExt:`.
void add_network(Page& page, const std::string& proc) {
  const std::string netstat = read_or_empty(proc + "/self/net/netstat");
  std::vector<std::string_view> names;
  for (const std::string_view line : split(netstat, '\n')) {
    if (!line.starts_with("IpExt:")) continue;
    const auto columns = words(line);
    if (names.empty()) {
      names = columns;
      continue;
    }
    for (std::size_t i = 0; i < names.size() && i < columns.size(); ++i) {
      if (names[i] == "InOctets") {
        page.add("process_network_receive_bytes_total", "counter",
                 "Number of bytes received by the process over the network.", columns[i]);
      } else if (names[i] == "OutOctets") {
        page.add("process_network_transmit_bytes_total", "counter",
                 "Number of bytes sent by the process over the network.", columns[i]);
      }
    }
  }
}

}  // namespace

std::string process_text(const std::string& proc) {
  Page page;
  add_stat(page, proc);
  add_open_files(page, proc);
  add_limits(page, proc);
  add_network(page, proc);
  return page.take();
}

}  // namespace mnet::metrics
