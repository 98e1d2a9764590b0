// What a program without libraries needs at least: an entry point and a few system calls.
#pragma once

#include <stddef.h>

#if defined(__x86_64__)
enum { kRead = 0, kWrite = 1, kSleep = 35, kExit = 231 };
__asm__(
    ".globl _start\n"
    "_start:\n"
    "  xor %ebp, %ebp\n"
    "  mov %rsp, %rdi\n"
    "  and $-16, %rsp\n"
    "  call start\n");
static long system_call(long number, long a, long b, long c) {
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c)
                   : "rcx", "r11", "memory");
  return result;
}
#elif defined(__aarch64__)
enum { kRead = 63, kWrite = 64, kSleep = 101, kExit = 94 };
__asm__(
    ".globl _start\n"
    "_start:\n"
    "  mov x29, #0\n"
    "  mov x0, sp\n"
    "  bl start\n");
static long system_call(long number, long a, long b, long c) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
}
#else
#error "no entry for this machine"
#endif

static int run(char** environment);

// `stack` is argc, argv..., NULL, environment..., NULL.
__attribute__((used, noreturn)) static void start_with(long* stack) {
  const int status = run((char**)(stack + 1 + stack[0] + 1));
  for (;;) system_call(kExit, status, 0, 0);
}
__attribute__((used, noreturn)) void start(long* stack) { start_with(stack); }
