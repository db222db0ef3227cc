// BUILD: copts = ["-O2", "-ftree-vectorize"]
#include "runtime/kernels/convert.h"

#include <algorithm>

#include "hlo/base/status.h"
#include "hlo/ir/native_types.h"
#include "runtime/loops/convert_value.h"
#include "runtime/loops/thread_pool.h"

namespace toroid {
namespace {

constexpr int64_t kGrain = 16 << 10;

template <typename From, typename To>
void Loop(const void* in, void* out, int64_t n) {
  const From* x = static_cast<const From*>(in);
  To* y = static_cast<To*>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = ConvertValue<To, From>(x[i]);
}

struct ConvertCache : KernelCache {
  explicit ConvertCache(const OpCall& call)
      : loop(FindConvertLoop(call.operand_shape(0).element_type(), call.shape().element_type())) {}
  ConvertLoop loop;
};

}  // namespace

ConvertLoop FindConvertLoop(PrimitiveType from, PrimitiveType to) {
  return VisitArrayType(
      from,
      [&](auto from_tag) -> ConvertLoop {
        using From = typename decltype(from_tag)::type;
        return VisitArrayType(
            to, [&](auto to_tag) -> ConvertLoop { return Loop<From, typename decltype(to_tag)::type>; },
            ConvertLoop{nullptr});
      },
      ConvertLoop{nullptr});
}

absl::Status ExecuteConvert(OpCall& call) {
  const ConvertLoop loop = call.Cache<ConvertCache>().loop;
  if (loop == nullptr) return absl::UnimplementedError("converts only arrays");
  const char* x = call.data(0);
  const bool uniform = call.uniform(0);
  const int64_t n = call.rows(0) * call.result_elements();
  const int64_t width = ByteWidth(call.operand_shape(0).element_type());
  const int64_t result_width = ByteWidth(call.shape().element_type());
  if (width == result_width) {
    RETURN_IF_ERROR(call.ReuseOrNewResult(1, uniform));
  } else {
    RETURN_IF_ERROR(call.NewResult(uniform));
  }
  char* out = call.result().mutable_data();
  ParallelFor(n, kGrain, [&](int64_t begin, int64_t end) {
    loop(x + begin * width, out + begin * result_width, end - begin);
  });
  return absl::OkStatus();
}

}  // namespace toroid
