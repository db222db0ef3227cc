// Functions that are compiled once for each level of x86-64, and chosen by the processor when they are called.
//
//   // lerp_loops.h
//   TOROID_PER_LEVEL(LerpLoop, void(const float* a, const float* b, float t, float* out, int64_t n));
//
//   // lerp_loops.cc, with the marker per_level of tools/generate_build.py
//   namespace toroid::TOROID_LEVEL {
//   void LerpLoop(const float* a, const float* b, float t, float* out, int64_t n) { .. }
//   }
//
// LerpLoop(a, b, 0.5f, out, n) runs the loop of the current level. The file is compiled for every level, with TOROID_LEVEL as
// v2, v3 or v4; there a name stands for the function of the same level. Inline functions and templates of other headers that it
// uses, those of the standard library too, become functions of its object alone (cc_library_per_level in tools/cc/cc.bzl).
#pragma once

#include <iterator>
#include <type_traits>
#include <utility>

#include "runtime/loops/processor_level.h"

namespace toroid {

// One function, in the order of kProcessorLevels.
template <typename Function>
class PerLevel;

template <typename Result, typename... Args>
class PerLevel<Result(Args...)> {
 public:
  using Function = Result(Args...);
  constexpr PerLevel(Function& v2, Function& v3, Function& v4) : functions_{&v2, &v3, &v4} {}

  Result operator()(Args... args) const {
    return functions_[static_cast<int>(CurrentProcessorLevel())](std::forward<Args>(args)...);
  }

 private:
  Function* functions_[std::size(kProcessorLevels)];
};

#ifdef TOROID_LEVEL
#define TOROID_PER_LEVEL(name, ...)              \
  namespace TOROID_LEVEL {                       \
  extern std::type_identity_t<__VA_ARGS__> name; \
  }
#else
#define TOROID_PER_LEVEL(name, ...)              \
  namespace v2 {                                 \
  extern std::type_identity_t<__VA_ARGS__> name; \
  }                                              \
  namespace v3 {                                 \
  extern std::type_identity_t<__VA_ARGS__> name; \
  }                                              \
  namespace v4 {                                 \
  extern std::type_identity_t<__VA_ARGS__> name; \
  }                                              \
  inline constexpr PerLevel<__VA_ARGS__> name = {v2::name, v3::name, v4::name}
#endif

}  // namespace toroid
