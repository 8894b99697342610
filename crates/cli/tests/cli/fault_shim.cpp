// Interposes the calls by which a process changes files: those on the folder FAULT_FOLDER are counted, and the one with
// number FAULT_AT ends the process (FAULT_ERROR=kill) or fails with that errno. How many there were goes to FAULT_COUNT.

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

int count = 0;

bool inside(const char *path) {
  const char *folder = getenv("FAULT_FOLDER");
  return folder && path && strncmp(path, folder, strlen(folder)) == 0;
}

bool inside(int file) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return false;
  path[length] = 0;
  return inside(path);
}

// Whether the call shall fail; errno says how.
bool fails(bool counted) {
  if (!counted) return false;
  if (++count != atoi(getenv("FAULT_AT"))) return false;
  if (FILE *told = fopen(getenv("FAULT_COUNT"), "w")) fclose(told);
  if (strcmp(getenv("FAULT_ERROR"), "kill") == 0) _exit(137);
  errno = atoi(getenv("FAULT_ERROR"));
  return true;
}

template <class Function> Function next(Function, const char *name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

#define INTERPOSE(result, name, parameters, arguments, subject)        \
  extern "C" result name parameters {                                  \
    if (fails(inside(subject))) return -1;                             \
    return next(&name, #name) arguments;                               \
  }

INTERPOSE(ssize_t, write, (int f, const void *b, size_t n), (f, b, n), f)
INTERPOSE(int, fsync, (int f), (f), f)
INTERPOSE(int, fdatasync, (int f), (f), f)
INTERPOSE(int, close, (int f), (f), f)
INTERPOSE(int, fchmod, (int f, mode_t m), (f, m), f)
INTERPOSE(int, fchown, (int f, uid_t u, gid_t g), (f, u, g), f)
INTERPOSE(int, flock, (int f, int o), (f, o), f)
INTERPOSE(int, futimens, (int f, const timespec *t), (f, t), f)
INTERPOSE(int, unlink, (const char *p), (p), p)
INTERPOSE(int, rename, (const char *a, const char *b), (a, b), a)
INTERPOSE(int, renameat2, (int d, const char *a, int e, const char *b, unsigned f), (d, a, e, b, f), a)
INTERPOSE(int, mkdir, (const char *p, mode_t m), (p, m), p)

extern "C" int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  if (fails(inside(path) && (flags & O_ACCMODE) != O_RDONLY)) return -1;
  using Open = int (*)(const char *, int, ...);
  return reinterpret_cast<Open>(dlsym(RTLD_NEXT, "open64"))(path, flags, mode);
}
