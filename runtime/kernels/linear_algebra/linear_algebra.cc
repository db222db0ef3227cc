// Registers the kernels of decompositions.h and lapack.h in every program that links this file. It is
// separate from ../custom_call, since Eigen's decompositions take longer to compile than all other kernels
// and few programs call them.
//
// BUILD: alwayslink = True
#include "runtime/kernels/custom_call.h"
#include "runtime/kernels/linear_algebra/decompositions.h"
#include "runtime/kernels/linear_algebra/lapack.h"

namespace toroid {
namespace {

[[maybe_unused]] const bool registered = [] {
  RegisterCustomCall("Cholesky", CholeskyCall);
  RegisterCustomCall("Eigh", EighCall);
  RegisterCustomCall("Qr", QrCall);
  RegisterCustomCall("LuDecomposition", LuCall);
  RegisterCustomCall("ProductOfElementaryHouseholderReflectors", HouseholderProductCall);
  RegisterCustomCallFinder(FindLapackKernel);
  return true;
}();

}  // namespace
}  // namespace toroid
