// What this project, libstdc++ and libgcc call of newer versions of glibc, for programs that are linked for an older one
// (packaging/older_glibc.py): the functions by means that glibc 2.28 has. Threads: as the functions that they replace.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// 2.32. That there may be other threads is always safe to say.
char __libc_single_threaded = 0;

// 2.36
uint32_t arc4random(void) {
  uint32_t drawn = 0;
  while (getrandom(&drawn, sizeof drawn, 0) != sizeof drawn) {
  }
  return drawn;
}

// 2.35. Where the table for unwinding is of the code at an address: libgcc asks for it when an exception is thrown.
struct search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int look_at(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  struct search* const search = data;
  uintptr_t begin = 0;
  uintptr_t end = 0;
  void* table = NULL;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const header = &info->dlpi_phdr[i];
    const uintptr_t at = info->dlpi_addr + header->p_vaddr;
    if (header->p_type == PT_LOAD && search->address >= at && search->address < at + header->p_memsz) {
      begin = at;
      end = at + header->p_memsz;
    } else if (header->p_type == PT_GNU_EH_FRAME) {
      table = (void*)at;
    }
  }
  if (end == 0 || table == NULL) {
    return end != 0 ? -1 : 0;
  }
  *search->found = (struct dl_find_object){.dlfo_map_start = (void*)begin, .dlfo_map_end = (void*)end, .dlfo_eh_frame = table};
  return 1;
}

int _dl_find_object(void* address, struct dl_find_object* found) {
  struct search search = {.address = (uintptr_t)address, .found = found};
  return dl_iterate_phdr(look_at, &search) == 1 ? 0 : -1;
}

// 2.33
extern int __fxstatat(int version, int folder, const char* path, struct stat* status, int flags);
int fstatat(int folder, const char* path, struct stat* status, int flags) {
  return __fxstatat(1, folder, path, status, flags);
}
int stat(const char* path, struct stat* status) {
  return fstatat(AT_FDCWD, path, status, 0);
}
int lstat(const char* path, struct stat* status) {
  return fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}
int fstat(int file, struct stat* status) {
  return fstatat(file, "", status, AT_EMPTY_PATH);
}
int stat64(const char* path, struct stat64* status) {
  return stat(path, (struct stat*)status);
}
int lstat64(const char* path, struct stat64* status) {
  return lstat(path, (struct stat*)status);
}
int fstat64(int file, struct stat64* status) {
  return fstat(file, (struct stat*)status);
}

// 2.30. Where glibc has it, it is glibc's; else the wait follows the clock of the day, as libstdc++ had it before.
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock, const struct timespec* until) {
  typedef int Wait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
  static Wait* ours = NULL;
  Wait* wait = __atomic_load_n(&ours, __ATOMIC_RELAXED);
  if (wait == NULL) {
    Wait* const theirs = (Wait*)dlsym(RTLD_NEXT, "pthread_cond_clockwait");
    wait = theirs != NULL ? theirs : pthread_cond_clockwait;
    __atomic_store_n(&ours, wait, __ATOMIC_RELAXED);
  }
  if (wait != pthread_cond_clockwait) {
    return wait(condition, mutex, clock, until);
  }
  struct timespec now;
  struct timespec day;
  if (clock_gettime(clock, &now) != 0 || clock_gettime(CLOCK_REALTIME, &day) != 0) {
    return errno;
  }
  day.tv_sec += until->tv_sec - now.tv_sec;
  day.tv_nsec += until->tv_nsec - now.tv_nsec;
  if (day.tv_nsec < 0) {
    day.tv_nsec += 1000000000;
    --day.tv_sec;
  } else if (day.tv_nsec >= 1000000000) {
    day.tv_nsec -= 1000000000;
    ++day.tv_sec;
  }
  return pthread_cond_timedwait(condition, mutex, &day);
}
