// Starts a small static program without asking what the processor can do.
//
// The C library's own start asks some 80 times (CPUID), to choose between variants of its string
// functions. A virtual machine leaves to its host for each of these questions: 0.4 ms of the 0.6
// that an empty program takes, and a plugin program lives little longer. This start does the rest of
// what that one does, in the same order; the string functions then are the ones that every x86-64
// processor has. It stands on names inside the library, so it is for one version of it:
// cmake/quick_start.cmake tries it out and leaves it away where it does not fit. For programs of one
// thread that are never set-uid. (docs/decisions/0021)
#include <elf.h>
#include <features.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#if !defined(__x86_64__) || __GLIBC__ != 2 || __GLIBC_MINOR__ != 36
#error "written for the static glibc 2.36 of x86-64"
#endif

typedef void (*Initializer)(int argc, char** argv, char** environment);
typedef void (*Finalizer)(void);

// Hidden: before the program has relocated itself only what is reached relative to the code is
// there.
#pragma GCC visibility push(hidden)
extern char** __environ;
extern void* __libc_stack_end;
extern const uintptr_t* _dl_random;  // 16 random bytes of the kernel
void _dl_aux_init(Elf64_auxv_t* vector);
void __tunables_init(char** environment);
void _dl_relocate_static_pie(void);
void __libc_setup_tls(void);
void __libc_early_init(_Bool initial);
void __libc_init_first(int argc, char** argv, char** environment);
int __cxa_atexit(void (*function)(void*), void* argument, void* object);
extern const Initializer __preinit_array_start[], __preinit_array_end[];
extern const Initializer __init_array_start[], __init_array_end[];
extern const Finalizer __fini_array_start[], __fini_array_end[];
#pragma GCC visibility pop
void _init(void);
void _fini(void);

// What the string functions know of the caches; the library defines them beside its own start.
// Its own values for a processor that says nothing; the thresholds that it would calculate are 3/4
// of the shared cache.
long int __x86_data_cache_size_half = 32 * 1024 / 2;
long int __x86_data_cache_size = 32 * 1024;
long int __x86_shared_cache_size_half = 1024 * 1024 / 2;
long int __x86_shared_cache_size = 1024 * 1024;
long int __x86_shared_non_temporal_threshold = 1024 * 1024 * 3 / 4;
long int __x86_rep_movsb_threshold = 2048;
long int __x86_rep_stosb_threshold = 2048;
long int __x86_rep_movsb_stop_threshold = 1024 * 1024 * 3 / 4;
int __x86_string_control = 0;

static void finalize(void* unused) {
  (void)unused;
  for (size_t i = (size_t)(__fini_array_end - __fini_array_start); i > 0; --i) {
    __fini_array_start[i - 1]();
  }
  _fini();
}

static void initialize(int argc, char** argv) {
  for (const Initializer* each = __preinit_array_start; each < __preinit_array_end; ++each) {
    (*each)(argc, argv, __environ);
  }
  _init();
  for (const Initializer* each = __init_array_start; each < __init_array_end; ++each) {
    (*each)(argc, argv, __environ);
  }
}

// Where code compiled with a stack protector looks for its canary, and setjmp for its key. The
// canary begins with a zero byte, so that no string runs over it.
static void set_guards(void) {
  const uintptr_t canary = _dl_random[0] & ~(uintptr_t)0xff;
  const uintptr_t key = _dl_random[1];
  __asm__ volatile("mov %0, %%fs:0x28" ::"r"(canary));
  __asm__ volatile("mov %0, %%fs:0x30" ::"r"(key));
}

// Called by _start. The last four parameters are of no use in a static program but for the stack.
int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void* stack_end) {
  (void)init, (void)fini, (void)rtld_fini;
  __environ = argv + argc + 1;
  __libc_stack_end = stack_end;
  char** end = __environ;
  while (*end != NULL) ++end;
  _dl_aux_init((Elf64_auxv_t*)(end + 1));
  __tunables_init(__environ);
  _dl_relocate_static_pie();
  __libc_setup_tls();
  set_guards();
  __libc_early_init(true);
  __libc_init_first(argc, argv, __environ);
  __cxa_atexit(finalize, NULL, NULL);
  initialize(argc, argv);
  exit(main(argc, argv, __environ));
}
