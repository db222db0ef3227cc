// Newer functions of glibc, replaced by what glibc 2.34 has: a program linked on Debian 12 (glibc 2.36) then also starts
// on RHEL 9 (2.34) and Ubuntu 22.04 (2.35). Hidden, so that shared libraries keep using their own.
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

#define HIDDEN __attribute__((visibility("hidden")))

// hypot of glibc 2.35 differs from the older one only in setting errno by itself.
double OlderHypot(double x, double y);
float OlderHypotf(float x, float y);
__asm__(".symver OlderHypot, hypot@GLIBC_2.2.5");
__asm__(".symver OlderHypotf, hypotf@GLIBC_2.2.5");

HIDDEN double hypot(double x, double y) { return OlderHypot(x, y); }
HIDDEN float hypotf(float x, float y) { return OlderHypotf(x, y); }

// Of glibc 2.36; std::random_device uses it.
HIDDEN uint32_t arc4random(void) {
  uint32_t random;
  while (getrandom(&random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
    if (errno != EINTR) abort();
  }
  return random;
}
