// Ends with 0 if a program that was started by apps/quick_start.c finds what it needs: arguments,
// environment, constructors, memory, long copies, thread storage, canary, exceptions, the kernel's
// values, and its destructors at the end.
#include <sys/auxv.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// Ends the program well, and only when everything else has: main's own end is a failure.
struct Last {
  int state = 1;
  ~Last() { _exit(state); }
};
Last last;
std::string made_before_main = std::string(100, 'x');
thread_local int per_thread = 7;

bool copies() {
  constexpr std::size_t kMany = 5 << 20;
  std::vector<char> from(kMany, 'a'), to(kMany);
  std::memcpy(to.data(), from.data(), kMany);
  std::memmove(to.data() + 1, to.data(), kMany - 1);
  return to == from && std::memchr(to.data(), 'b', kMany) == nullptr && std::strlen("abc") == 3;
}

bool throws() {
  try {
    return std::string().at(1) == 'x';
  } catch (const std::out_of_range& thrown) {
    return std::string(thrown.what()).size() > 1;
  }
}

bool has_canary() {
  std::uintptr_t canary = 0;
  __asm__("mov %%fs:0x28, %0" : "=r"(canary));
  return canary != 0 && (canary & 0xff) == 0;
}

bool has_errno() {
  errno = 0;
  return close(-1) != 0 && errno == EBADF;
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_well =
      argc == 3 && argv[1] == std::string("one") && argv[2] == std::string("two") &&
      getenv("PATH") != nullptr && made_before_main.size() == 100 && per_thread == 7 &&
      getauxval(AT_PAGESZ) > 0 && copies() && throws() && has_canary() && has_errno();
  last.state = is_well ? 0 : 1;
  return 2;
}
