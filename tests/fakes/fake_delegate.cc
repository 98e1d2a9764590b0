// A CNI plugin that does what it is told, and records how it was called.
//
// Its orders are in the file `<argv[0]>.control.json` if there is one, else in the member "fake" of
// the configuration on its stdin. Under several names (links) it plays several plugins. Keys:
//
//   "record": path     every call appends one JSON line (record.h), before it acts
//   "record_end": true and another one when it ends by itself
//   "ADD", "DEL", "CHECK", "GC", "STATUS", "VERSION", "*" (any other): what to do in such a call
//
// Without orders: ADD answers a small result of the configuration's version, VERSION all versions,
// the others succeed silently. In one call, in this order:
//
//   "ignore_stdin": true         does not read it (only from the control file)
//   "answer_first": true         prints before it reads its stdin, instead of afterwards
//   "ignore_sigterm": true
//   "allocate_mb": n             takes and touches that much memory
//   "child_seconds": n           leaves a child that keeps stdout and stderr open for that long,
//   "child_until": path          ... or until the path exists;
//   "child_leaves_group": true   ... in a session of its own
//   "gate": path                 makes `<path>.here` and goes on when the path exists
//   "delay_ms": n                answers late
//   "hang": true                 never answers
//   "error": {code, msg, ...}    prints it, exit status 1
//   "result": {...}              answers this, whatever the command
//   "stdout", "stderr": text     prints it as it is, in place of a result
//   "stdout_bytes", "stderr_bytes": n   that many bytes
//   "versions": [...]            what VERSION answers
//   "exit": n                    exit status, whatever was printed
//   "signal": n                  ends by that signal
//   "first": n                   all that only in the first n calls of that command for a network;
//                                later calls act as without orders (needs "record")
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "base/try.h"
#include "behaviour.h"
#include "json/json.h"
#include "record.h"
#include "sys/fd.h"
#include "sys/file.h"

namespace mnet::fakes {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): there is one thread
  return value == nullptr ? "" : value;
}

void print(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

void print_bytes(int fd, std::int64_t count) {
  const std::string block(64u << 10, 'x');
  for (; count > 0; count -= static_cast<std::int64_t>(block.size())) {
    print(fd, std::string_view(block).substr(0, static_cast<std::size_t>(count)));
  }
}

std::string member(std::string_view config, std::string_view key) {
  auto object = json::parse_object(config);
  const json::Value* value = object ? object->find(key) : nullptr;
  const std::string* text = value == nullptr ? nullptr : value->as_string();
  return text == nullptr ? "" : *text;
}

std::string version_of(std::string_view config) {
  std::string version = member(config, "cniVersion");
  return version.empty() ? "0.1.0" : version;
}

json::Value standard_result(const std::string& version) {
  if (version.starts_with("0.1") || version.starts_with("0.2")) {
    return json::Object{{"cniVersion", version}, {"ip4", json::Object{{"ip", "10.1.2.3/24"}}}};
  }
  json::Object ip{{"address", "10.1.2.3/24"}, {"interface", 0}};
  if (version.starts_with("0.")) ip.set("version", "4");
  return json::Object{{"cniVersion", version},
                      {"interfaces", json::Array{json::Object{{"name", variable("CNI_IFNAME")},
                                                              {"mac", "02:00:00:00:00:0a"},
                                                              {"sandbox", variable("CNI_NETNS")}}}},
                      {"ips", json::Array{std::move(ip)}}};
}

std::string versions_reply(std::vector<std::string> versions) {
  if (versions.empty()) {
    versions = {"0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"};
  }
  return json::dump(json::Object{{"cniVersion", "1.1.0"}, {"supportedVersions", versions}});
}

void wait_for(const std::string& path) {
  while (::access(path.c_str(), F_OK) != 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

// Keeps stdout and stderr open after the plugin has ended.
void leave_child(const Behaviour& behaviour) {
  if (::fork() != 0) return;
  if (behaviour.child_leaves_group) ::setsid();
  ::close(0);
  ::sleep(static_cast<unsigned>(behaviour.child_seconds));
  if (!behaviour.child_until.empty()) wait_for(behaviour.child_until);
  ::_exit(0);
}

void take_memory(std::int64_t megabytes) {
  // Touched, and kept until the end of the process.
  auto* memory = new std::string(static_cast<std::size_t>(megabytes) << 20, 'x');
  static_cast<void>(memory);
}

void take_time(const Behaviour& behaviour) {
  if (!behaviour.gate.empty()) {
    const std::string here = behaviour.gate + ".here";
    const sys::UniqueFd made(::open(here.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    wait_for(behaviour.gate);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(behaviour.delay_ms));
  while (behaviour.hang) ::pause();
}

// Yields the exit status.
int answer(const Behaviour& behaviour, const std::string& command, std::string_view config) {
  print(STDERR_FILENO, behaviour.err.value_or(""));
  print_bytes(STDERR_FILENO, behaviour.err_bytes);
  print_bytes(STDOUT_FILENO, behaviour.out_bytes);
  if (behaviour.error) {
    print(STDOUT_FILENO, json::dump(*behaviour.error));
    return 1;
  }
  if (behaviour.out) {
    print(STDOUT_FILENO, *behaviour.out);
  } else if (behaviour.result) {
    print(STDOUT_FILENO, json::dump(*behaviour.result));
  } else if (command == "ADD" && behaviour.out_bytes == 0) {
    print(STDOUT_FILENO, json::dump(standard_result(version_of(config))));
  } else if (command == "VERSION") {
    print(STDOUT_FILENO, versions_reply(behaviour.versions));
  }
  return 0;
}

// What was ordered, or nothing in a call beyond the first ones.
Behaviour behaviour_of(const Orders& orders, const Call& call) {
  const auto& first = orders.behaviour.first;
  // This call is in the record already.
  const bool is_over = first && count_calls(orders.record, call.command, call.network) > *first;
  return is_over ? Behaviour() : orders.behaviour;
}

Result<Orders> orders_of_config(std::string_view config, const std::string& command) {
  auto object = json::parse_object(config);
  const json::Value* fake = object ? object->find("fake") : nullptr;
  if (fake == nullptr || fake->as_object() == nullptr) return Orders();
  return read_orders(*fake->as_object(), command);
}

Result<Orders> orders_of_file(const std::string& bytes, const std::string& command) {
  MNET_TRY(auto&& object, json::parse_object(bytes));
  return read_orders(object, command);
}

int act(const Orders& orders, Call call, std::string& config, bool has_read) {
  if (orders.behaviour.ignore_sigterm) ::signal(SIGTERM, SIG_IGN);
  const bool reads = !has_read && !orders.behaviour.ignore_stdin;
  const bool reads_late = reads && orders.behaviour.answer_first;
  if (reads && !reads_late) config = sys::read_all(STDIN_FILENO, "stdin").value_or("");
  call.stdin_bytes = config;
  call.network = member(config, "name");
  if (!orders.record.empty()) record_call(orders.record, call);
  const Behaviour behaviour = behaviour_of(orders, call);
  if (behaviour.allocate_mb > 0) take_memory(behaviour.allocate_mb);
  if (behaviour.child_seconds > 0 || !behaviour.child_until.empty()) leave_child(behaviour);
  take_time(behaviour);
  int status = answer(behaviour, call.command, config);
  if (reads_late) config = sys::read_all(STDIN_FILENO, "stdin").value_or("");
  if (behaviour.exit) status = static_cast<int>(*behaviour.exit);
  if (orders.record_end) record_end(orders.record, call.command);
  if (behaviour.signal > 0) ::raise(static_cast<int>(behaviour.signal));
  return status;
}

int run(int argc, char** argv) {
  Call call{.command = variable("CNI_COMMAND"), .argv = {argv, argv + argc}};
  auto control = sys::find_file(cat(argv[0], ".control.json"));
  std::string config;
  const bool from_stdin = control && !control->has_value();
  if (from_stdin) config = sys::read_all(STDIN_FILENO, "stdin").value_or("");
  auto orders = from_stdin ? orders_of_config(config, call.command)
                           : orders_of_file(control ? **control : "", call.command);
  if (!orders) {
    print(STDERR_FILENO, cat("fake-delegate: ", orders.error().text(), "\n"));
    return 2;
  }
  return act(*orders, std::move(call), config, from_stdin);
}

}  // namespace
}  // namespace mnet::fakes

int main(int argc, char** argv) { return mnet::fakes::run(argc, argv); }
