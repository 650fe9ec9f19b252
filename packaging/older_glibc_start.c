#include <stddef.h>

// A program whose start is of glibc 2.34 or newer leaves its initialization to glibc; an older one leaves it to the program.
// Linked with --wrap=__libc_start_main.
typedef int Main(int, char**, char**);
typedef void Initialize(int, char**, char**);
extern void _init(void) __attribute__((weak, visibility("hidden")));
extern Initialize* __preinit_array_start[] __attribute__((visibility("hidden")));
extern Initialize* __preinit_array_end[] __attribute__((visibility("hidden")));
extern Initialize* __init_array_start[] __attribute__((visibility("hidden")));
extern Initialize* __init_array_end[] __attribute__((visibility("hidden")));
extern int __real___libc_start_main(Main*, int, char**, void*, void*, void*, void*);

static void initialize(int count, char** arguments, char** environment) {
  for (Initialize** each = __preinit_array_start; each < __preinit_array_end; ++each) {
    (*each)(count, arguments, environment);
  }
  if (_init != NULL) {
    _init();
  }
  for (Initialize** each = __init_array_start; each < __init_array_end; ++each) {
    (*each)(count, arguments, environment);
  }
}

int __wrap___libc_start_main(Main* program, int count, char** arguments, void* init, void* fini, void* rtld_fini, void* stack) {
  (void)init;
  return __real___libc_start_main(program, count, arguments, (void*)initialize, fini, rtld_fini, stack);
}
