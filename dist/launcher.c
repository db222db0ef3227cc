// Starts the fastest program of a command that this processor runs.
//
// bin/NAME of an archive is this file. The programs stand in lib/toroid/LEVEL/NAME beside it, one for each level of the
// x86-64 architecture that NAME was compiled for: the highest that both exists and runs here is started in this process'
// place. In a wheel the folder lib stands beside the file.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

// The file of this program, links resolved; how it was called where /proc is absent.
static int OwnPath(char path[PATH_MAX]) {
  const ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
  if (length > 0) {
    path[length] = '\0';
    return 1;
  }
  const char* called = (const char*)getauxval(AT_EXECFN);
  return called != NULL && snprintf(path, PATH_MAX, "%s", called) < PATH_MAX;
}

int main(int argc, char** argv) {
  (void)argc;
  __builtin_cpu_init();
  const char* const levels[] = {
      __builtin_cpu_supports("x86-64-v4") ? "x86-64-v4" : NULL,
      __builtin_cpu_supports("x86-64-v3") ? "x86-64-v3" : NULL,
      __builtin_cpu_supports("x86-64-v2") ? "x86-64-v2" : NULL,
  };
  char self[PATH_MAX], program[3 * PATH_MAX];
  if (!OwnPath(self)) {
    fprintf(stderr, "toroid: the folder of this command cannot be found; call it by its full path\n");
    return 1;
  }
  char* slash = strrchr(self, '/');
  const char* const name = slash == NULL ? self : slash + 1;
  const char* const folder = slash == NULL ? "." : self;
  if (slash != NULL) *slash = '\0';
  if (levels[2] == NULL) {
    fprintf(stderr,
            "%s: this processor is older than x86-64-v2 (SSE4.2, POPCNT); build Toroid from source on it\n",
            name);
    return 1;
  }
  const char* const libraries[] = {"../lib/toroid", "lib"};
  for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); ++i) {
    for (size_t j = 0; levels[i] != NULL && j < sizeof(libraries) / sizeof(libraries[0]); ++j) {
      const int length =
          snprintf(program, sizeof(program), "%s/%s/%s/%s", folder, libraries[j], levels[i], name);
      if (length < 0 || (size_t)length >= sizeof(program)) continue;
      execv(program, argv);
      if (errno != ENOENT && errno != ENOTDIR) {
        fprintf(stderr, "%s: %s: %s\n", name, program, strerror(errno));
        return 1;
      }
    }
  }
  fprintf(stderr, "%s: its program is missing beside %s; unpack the whole archive again\n", name, folder);
  return 1;
}
