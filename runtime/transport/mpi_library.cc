#include "runtime/transport/mpi_library.h"

#include <dlfcn.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace toroid {
namespace {

constexpr char kLibrary[] = "libmpi.so.40";  // Open MPI 4.

}  // namespace

absl::StatusOr<const MpiLibrary*> LoadMpi() {
  static const MpiLibrary* loaded = nullptr;
  if (loaded != nullptr) return loaded;
  // RTLD_GLOBAL: plugins that the library loads look up its symbols.
  void* const handle = dlopen(kLibrary, RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("Open MPI cannot be loaded (", dlerror(), "); install openmpi-bin"));
  }
  auto* mpi = new MpiLibrary;
  std::string missing;
  const auto find = [&](const char* name, auto* target) {
    void* const symbol = dlsym(handle, name);
    if (symbol == nullptr) missing = name;
    *target = reinterpret_cast<std::remove_pointer_t<decltype(target)>>(symbol);
  };
#define TOROID_MPI_FIND(name) find("MPI_" #name, &mpi->name);
  TOROID_MPI_FUNCTIONS(TOROID_MPI_FIND)
#undef TOROID_MPI_FIND
  find("ompi_mpi_comm_world", &mpi->world);
  find("ompi_mpi_errors_return", &mpi->errors_return);
  find("ompi_mpi_byte", &mpi->byte);
  find("ompi_mpi_int8_t", &mpi->int8);
  find("ompi_mpi_int16_t", &mpi->int16);
  find("ompi_mpi_int32_t", &mpi->int32);
  find("ompi_mpi_int64_t", &mpi->int64);
  find("ompi_mpi_uint8_t", &mpi->uint8);
  find("ompi_mpi_uint16_t", &mpi->uint16);
  find("ompi_mpi_uint32_t", &mpi->uint32);
  find("ompi_mpi_uint64_t", &mpi->uint64);
  find("ompi_mpi_float", &mpi->float32);
  find("ompi_mpi_op_sum", &mpi->sum);
  find("ompi_mpi_op_prod", &mpi->product);
  find("ompi_mpi_op_max", &mpi->maximum);
  find("ompi_mpi_op_min", &mpi->minimum);
  find("ompi_mpi_op_band", &mpi->bit_and);
  find("ompi_mpi_op_bor", &mpi->bit_or);
  find("ompi_mpi_op_bxor", &mpi->bit_xor);
  if (!missing.empty()) {
    delete mpi;
    return absl::FailedPreconditionError(absl::StrCat(kLibrary, " has no ", missing, "; install Open MPI 4"));
  }
  return loaded = mpi;
}

}  // namespace toroid
