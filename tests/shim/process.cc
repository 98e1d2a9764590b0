#include "process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "cni/error.h"
#include "json/json.h"
#include "sys/file.h"
#include "sys/test_dir.h"

namespace mnet::test {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

bool is_closed(const Program& program, int fd) {
  return std::ranges::find(program.closed, fd) != program.closed.end();
}

}  // namespace

ErrorObject Finished::error() const {
  const auto document = json::parse(out);
  EXPECT_TRUE(document.has_value()) << "stdout: " << out;
  return document ? *cni::parse_error_object(*document) : ErrorObject{};
}

std::string path_of(std::string_view name) {
  const auto self = std::filesystem::read_symlink("/proc/self/exe");
  return (self.parent_path().parent_path() / "bin" / name).string();
}

std::vector<std::string> standard_env(std::string_view command) {
  return {cat("CNI_COMMAND=", command), "CNI_CONTAINERID=c0ffee",
          "CNI_NETNS=/no/such/netns",   "CNI_IFNAME=eth0",
          "CNI_PATH=/opt/cni/bin",      "CNI_ARGS=K8S_POD_NAME=p"};
}

Finished run(const Program& program) {
  const sys::TestDir dir;
  const std::string in = dir.write("in", program.text);
  const std::string files[3] = {in, dir / "out", dir / "err"};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int fd = 0; fd < 3; ++fd) {
    if (is_closed(program, fd)) {
      posix_spawn_file_actions_addclose(&actions, fd);
    } else {
      posix_spawn_file_actions_addopen(&actions, fd, files[fd].c_str(),
                                       fd == 0 ? O_RDONLY : O_WRONLY | O_CREAT, 0600);
    }
  }
  std::vector<std::string> words = program.words;
  words.insert(words.begin(), path_of(program.name));
  std::vector<std::string> env = program.env;

  const auto start = std::chrono::steady_clock::now();
  pid_t pid = 0;
  const int failure = ::posix_spawn(&pid, words[0].c_str(), &actions, nullptr,
                                    pointers_to(words).data(), pointers_to(env).data());
  posix_spawn_file_actions_destroy(&actions);
  Finished finished;
  if (failure != 0) {
    ADD_FAILURE() << words[0] << ": " << errno_text(failure);
    return finished;
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  finished.took = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - start);
  finished.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  finished.out = sys::find_file(files[1])->value_or("");
  finished.err = sys::find_file(files[2])->value_or("");
  return finished;
}

}  // namespace mnet::test
