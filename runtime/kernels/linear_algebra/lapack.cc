#include "runtime/kernels/linear_algebra/lapack.h"

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/kernels/linear_algebra/lapack_calls.h"

namespace toroid {
namespace {

const absl::flat_hash_map<absl::string_view, Kernel>& Routines() {
  static const auto* const routines = new absl::flat_hash_map<absl::string_view, Kernel>{
      {"potrf", PotrfCall}, {"trsm", TrsmCall},   {"getrf", GetrfCall}, {"geqrf", GeqrfCall},
      {"geqp3", Geqp3Call}, {"orgqr", OrgqrCall}, {"ungqr", OrgqrCall}, {"ormqr", OrmqrCall},
      {"unmqr", OrmqrCall}, {"gtsv", GtsvCall},   {"syevd", SyevdCall}, {"heevd", SyevdCall},
      {"gesdd", GesddCall}, {"gesvd", GesddCall}, {"geev", GeevCall},   {"gees", GeesCall},
      {"gehrd", GehrdCall}, {"sytrd", SytrdCall}, {"hetrd", SytrdCall}};
  return *routines;
}

}  // namespace

Kernel FindLapackKernel(absl::string_view target) {
  if (!absl::ConsumePrefix(&target, "lapack_") || !absl::ConsumeSuffix(&target, "_ffi") ||
      target.size() < 2 || !absl::StrContains("sdcz", target.substr(0, 1))) {
    return nullptr;
  }
  const auto it = Routines().find(target.substr(1));
  return it == Routines().end() ? nullptr : it->second;
}

}  // namespace toroid
