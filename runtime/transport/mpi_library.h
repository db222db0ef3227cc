// Open MPI, loaded on demand: a program that does not use it starts without it, and runs where it is not
// installed.
#pragma once

#include "absl/status/statusor.h"
#include "mpi.h"

namespace toroid {

// The MPI functions and objects in use, named without "MPI_". mpi.h defines objects as addresses in the
// library, which are known only after loading.
struct MpiLibrary {
// clang-format off
#define TOROID_MPI_FUNCTIONS(F)                                                                              \
  F(Init_thread) F(Finalize) F(Abort) F(Comm_rank) F(Comm_size) F(Comm_dup) F(Comm_group) F(Group_incl)      \
  F(Group_free) F(Comm_create_group) F(Comm_set_errhandler) F(Isend) F(Irecv) F(Recv) F(Test) F(Iprobe)      \
  F(Get_count) F(Iallgatherv) F(Ibarrier) F(Error_string) F(Barrier) F(Allreduce) F(Allgather)               \
  F(Alltoall) F(Reduce_scatter_block) F(Sendrecv)
// clang-format on
#define TOROID_MPI_MEMBER(name) decltype(&MPI_##name) name = nullptr;
  TOROID_MPI_FUNCTIONS(TOROID_MPI_MEMBER)
#undef TOROID_MPI_MEMBER
  MPI_Comm world = nullptr;
  MPI_Errhandler errors_return = nullptr;
  MPI_Datatype byte = nullptr;
  MPI_Datatype int8 = nullptr, int16 = nullptr, int32 = nullptr, int64 = nullptr;
  MPI_Datatype uint8 = nullptr, uint16 = nullptr, uint32 = nullptr, uint64 = nullptr;
  MPI_Datatype float32 = nullptr;
  MPI_Op sum = nullptr, product = nullptr, maximum = nullptr, minimum = nullptr;
  MPI_Op bit_and = nullptr, bit_or = nullptr, bit_xor = nullptr;
};

// Errors: kFailedPrecondition if Open MPI is not installed or has another version than the one compiled
// against.
absl::StatusOr<const MpiLibrary*> LoadMpi();

}  // namespace toroid
